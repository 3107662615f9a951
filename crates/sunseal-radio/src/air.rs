// SPDX-License-Identifier: MIT OR Apache-2.0
//! Carriers of packets between the node's antenna and the gateway's.
//!
//! For each packet sent there is exactly one answer, so simulated time waits for it and runs are
//! the same every time.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use sunseal_link::air::{Down, Listen, MAX_DOWN_BYTES, Train, Up};
use sunseal_link::frame::FrameBytes;

/// Failure between node and gateway.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AirError {
    /// The gateway cannot be reached.
    #[error("gateway {address}: {reason}; start one with `sunseal gateway` and name its address")]
    Connect {
        /// Address of the gateway.
        address: String,
        /// Words of the operating system.
        reason: String,
    },
    /// The connection broke, or the gateway speaks another language.
    #[error("gateway {address}: {reason}")]
    Talk {
        /// Address of the gateway.
        address: String,
        /// Clause that tells what happened.
        reason: String,
    },
}

/// A packet that left the node's antenna.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Simulated time at its end, in microseconds since the scenario began.
    pub time_us: u64,
    /// Length byte and frame.
    pub packet: Vec<u8>,
    /// True if the radio's CRC holds when it arrives.
    pub crc_ok: bool,
}

/// A frame that reaches the node's antenna in answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// From the end of the packet sent to the start of this one's preamble.
    pub delay_us: u32,
    /// The frame, without its length byte.
    pub frame: Vec<u8>,
    /// True if the radio's CRC holds.
    pub crc_ok: bool,
}

/// Something that answers packets.
pub trait Air: Send {
    /// A packet ended; what comes back, and when.
    ///
    /// # Errors
    /// If nothing can be known about that.
    fn exchange(&mut self, sent: &Sent) -> Result<Vec<Answer>, AirError>;

    /// The receiver opens for a while; what is on the air meanwhile by itself, and whether its CRC holds. Asking twice
    /// changes nothing.
    ///
    /// # Errors
    /// If nothing can be known about that.
    fn listen(&mut self, _from_us: u64, _span_us: u32) -> Result<Option<(Train, bool)>, AirError> {
        Ok(None)
    }

    /// State of this side of it that a snapshot must keep; none if there is no going back to it.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }

    /// Goes back to what [`save`](Self::save) gave.
    fn restore(&mut self, _saved: &[u8]) {}
}

/// Air without a gateway: nobody answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence;

impl Air for Silence {
    fn exchange(&mut self, _: &Sent) -> Result<Vec<Answer>, AirError> {
        Ok(Vec::new())
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }
}

/// Answers from a function; for tests and examples.
pub struct LoopbackAir<F>(pub F);

impl<F: FnMut(&Sent) -> Vec<Answer> + Send> Air for LoopbackAir<F> {
    fn exchange(&mut self, sent: &Sent) -> Result<Vec<Answer>, AirError> {
        Ok((self.0)(sent))
    }
}

/// The air protocol's client.
#[derive(Debug)]
pub struct GatewayAir {
    stream: TcpStream,
    address: String,
    rssi_dbm: i8,
    lqi: u8,
}

impl GatewayAir {
    /// Connects to a gateway, at `host:port`.
    ///
    /// # Errors
    /// If there is none.
    pub fn connect(address: &str) -> Result<Self, AirError> {
        let fail = |reason: String| AirError::Connect { address: address.to_owned(), reason };
        let mut found = address.to_socket_addrs().map_err(|e| fail(e.to_string()))?;
        let socket = found.next().ok_or_else(|| fail("the name has no address".into()))?;
        let stream = TcpStream::connect_timeout(&socket, Duration::from_secs(5))
            .map_err(|e| fail(e.to_string()))?;
        stream.set_nodelay(true).map_err(|e| fail(e.to_string()))?;
        stream.set_read_timeout(Some(Duration::from_secs(30))).map_err(|e| fail(e.to_string()))?;
        Ok(Self { stream, address: address.to_owned(), rssi_dbm: -60, lqi: 10 })
    }

    fn talk(&self, reason: String) -> AirError {
        AirError::Talk { address: self.address.clone(), reason }
    }

    /// Hands a message over, and waits for the one that answers it.
    fn converse(&mut self, up: &[u8]) -> Result<Vec<u8>, AirError> {
        self.stream
            .write_all(up)
            .map_err(|e| self.talk(format!("a packet could not be handed over: {e}")))?;
        let mut head = [0; 2];
        self.stream
            .read_exact(&mut head)
            .map_err(|e| self.talk(format!("no answer to a packet: {e}")))?;
        let length = usize::from(u16::from_be_bytes(head));
        if length > MAX_DOWN_BYTES {
            return Err(self
                .talk(format!("an answer of {length} bytes; at most {MAX_DOWN_BYTES} are right")));
        }
        let mut body = vec![0; length];
        self.stream
            .read_exact(&mut body)
            .map_err(|e| self.talk(format!("an answer broke off: {e}")))?;
        Ok(body)
    }
}

impl Air for GatewayAir {
    fn exchange(&mut self, sent: &Sent) -> Result<Vec<Answer>, AirError> {
        let up = Up {
            time_us: sent.time_us,
            rssi_dbm: self.rssi_dbm,
            lqi: self.lqi,
            packet: &sent.packet,
            crc_ok: sent.crc_ok,
        };
        let bytes = up
            .encode()
            .ok_or_else(|| self.talk("the packet is empty or longer than 256 bytes".into()))?;
        let body = self.converse(&bytes)?;
        let down = Down::decode(&body).map_err(|e| self.talk(e.to_string()))?;
        let answer = |f: &sunseal_link::air::DownFrame| Answer {
            delay_us: f.delay_us,
            frame: f.frame.to_vec(),
            crc_ok: true,
        };
        Ok(down.frames().map(answer).collect())
    }

    fn listen(&mut self, from_us: u64, span_us: u32) -> Result<Option<(Train, bool)>, AirError> {
        let body = self.converse(&Listen { from_us, span_us }.encode())?;
        let train = Train::decode(&body).map_err(|e| self.talk(e.to_string()))?;
        Ok(train.map(|t| (t, true)))
    }

    /// Nothing: whoever goes on connects anew, and what the other side remembers is its own.
    fn save(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }
}

/// A generator of reproducible chance (SplitMix64, Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Begins at a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Draws whether something of probability `p` happens.
    pub fn happens(&mut self, p: f64) -> bool {
        // 53 bits, as many as a double holds.
        ((self.bits() >> 11) as f64) < p * (1u64 << 53) as f64
    }
}

/// An air that loses packets and flips bits, the same ones for the same seed.
pub struct FaultyAir<A> {
    inner: A,
    loss: f64,
    flip: f64,
    caught: bool,
    chance: Chance,
}

impl<A: Air> FaultyAir<A> {
    /// `loss` and `flip` are probabilities per packet, either way. A flipped bit fails the radio's CRC
    /// if `caught`, else it passes as if the CRC had been fooled.
    pub fn new(inner: A, loss: f64, flip: f64, caught: bool, seed: u64) -> Self {
        Self { inner, loss, flip, caught, chance: Chance::new(seed) }
    }

    /// Flips one bit behind the first `keep` bytes.
    fn maybe_flip(&mut self, bytes: &mut [u8], keep: usize) -> bool {
        if !self.chance.happens(self.flip) || bytes.len() <= keep {
            return false;
        }
        let bit = self.chance.bits() % ((bytes.len() - keep) as u64 * 8);
        bytes[keep + bit as usize / 8] ^= 1 << (bit % 8);
        true
    }
}

impl<A: Air> Air for FaultyAir<A> {
    fn exchange(&mut self, sent: &Sent) -> Result<Vec<Answer>, AirError> {
        if self.chance.happens(self.loss) {
            return Ok(Vec::new());
        }
        let mut sent = sent.clone();
        // The length byte stays: a packet of another length is another packet.
        if self.maybe_flip(&mut sent.packet, 1) && self.caught {
            sent.crc_ok = false;
        }
        let mut out = Vec::new();
        for mut answer in self.inner.exchange(&sent)? {
            if self.chance.happens(self.loss) {
                continue;
            }
            if self.maybe_flip(&mut answer.frame, 0) && self.caught {
                answer.crc_ok = false;
            }
            out.push(answer);
        }
        Ok(out)
    }

    /// A train is lost, or damaged, for one window.
    fn listen(&mut self, from_us: u64, span_us: u32) -> Result<Option<(Train, bool)>, AirError> {
        let Some((mut train, mut crc_ok)) = self.inner.listen(from_us, span_us)? else {
            return Ok(None);
        };
        if self.chance.happens(self.loss) {
            return Ok(None);
        }
        let mut frame = train.frame.to_vec();
        if self.maybe_flip(&mut frame, 0) {
            crc_ok &= !self.caught;
            train.frame = FrameBytes::copy_of(&frame).unwrap_or(train.frame);
        }
        Ok(Some((train, crc_ok)))
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some([&self.chance.0.to_le_bytes()[..], &self.inner.save()?].concat())
    }

    fn restore(&mut self, saved: &[u8]) {
        if let Some((chance, inner)) = saved.split_first_chunk() {
            self.chance = Chance(u64::from_le_bytes(*chance));
            self.inner.restore(inner);
        }
    }
}

impl Air for Box<dyn Air> {
    fn exchange(&mut self, sent: &Sent) -> Result<Vec<Answer>, AirError> {
        (**self).exchange(sent)
    }

    fn listen(&mut self, from_us: u64, span_us: u32) -> Result<Option<(Train, bool)>, AirError> {
        (**self).listen(from_us, span_us)
    }

    fn save(&self) -> Option<Vec<u8>> {
        (**self).save()
    }

    fn restore(&mut self, saved: &[u8]) {
        (**self).restore(saved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(sent: &Sent) -> Vec<Answer> {
        vec![Answer { delay_us: 1000, frame: sent.packet[1..].to_vec(), crc_ok: true }]
    }

    fn sent(n: u8) -> Sent {
        Sent { time_us: u64::from(n), packet: vec![5, 1, 2, 3, n, 5], crc_ok: true }
    }

    #[test]
    fn the_same_seed_loses_and_flips_the_same() {
        let run = |seed| {
            let mut air = FaultyAir::new(LoopbackAir(echo), 0.3, 0.3, true, seed);
            (0..200).map(|n| air.exchange(&sent(n)).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        let answered = run(1).iter().filter(|a| !a.is_empty()).count();
        // (1 - 0.3)^2 of 200, give or take three standard deviations.
        assert!((77..=119).contains(&answered), "{answered}");
        let damaged = run(1).iter().flatten().filter(|a| !a.crc_ok).count();
        assert!(damaged > 10, "{damaged}");
    }

    #[test]
    fn a_gateway_that_is_not_there_is_one_sentence() {
        // Port 1 on loopback: refused at once.
        let text = GatewayAir::connect("127.0.0.1:1").unwrap_err().to_string();
        assert!(
            text.starts_with("gateway 127.0.0.1:1: ") && text.contains("sunseal gateway"),
            "{text}"
        );
    }

    #[test]
    fn it_speaks_the_air_protocol() {
        use std::net::TcpListener;
        use sunseal_link::air::DownFrame;

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let gateway = std::thread::spawn(move || {
            let (mut s, _) = listener.accept().unwrap();
            let mut head = [0; 2];
            s.read_exact(&mut head).unwrap();
            let mut body = vec![0; usize::from(u16::from_be_bytes(head))];
            s.read_exact(&mut body).unwrap();
            let up = Up::decode(&body).unwrap();
            assert_eq!((up.time_us, up.crc_ok), (7, true));
            let mut down = Down::default();
            assert!(down.push(DownFrame {
                delay_us: 900,
                frame: FrameBytes::copy_of(&up.packet[1..]).unwrap()
            }));
            s.write_all(&down.encode()).unwrap();
        });
        let mut air = GatewayAir::connect(&address).unwrap();
        let answers = air.exchange(&sent(7)).unwrap();
        assert_eq!(answers, [Answer { delay_us: 900, frame: vec![1, 2, 3, 7, 5], crc_ok: true }]);
        gateway.join().unwrap();
        let text = air.exchange(&sent(8)).unwrap_err().to_string();
        assert!(text.contains(&address), "{text}");
    }
}
