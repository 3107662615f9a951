// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is wired to a machine: pins, voltages at its converter, parts, crystals, serial lines.

use super::*;

impl Machine {
    /// Output pins that changed, in order.
    #[must_use]
    pub fn pin_log(&self) -> &[PinEdge] {
        &self.common().state.pin_log
    }

    /// Takes the pin log away, leaving an empty one.
    pub fn take_pin_log(&mut self) -> Vec<PinEdge> {
        std::mem::take(&mut self.common_mut().state.pin_log)
    }

    /// Whether the pin log is kept, as from the start. A run over days does better without.
    pub fn log_pins(&mut self, on: bool) {
        self.common_mut().log_pins = on;
    }

    /// The level at a pin.
    #[must_use]
    pub fn pin(&self, pin: Pin) -> bool {
        each!(self, e => e.chip.pin_level(pin))
    }

    /// Counts the pulses of an output pin from now on: how often it falls while the chip runs.
    pub fn count_pulses(&mut self, pin: Option<Pin>) {
        self.common_mut().counted = pin;
    }

    /// The pulses counted so far.
    #[must_use]
    pub fn pulses(&self) -> u64 {
        self.common().state.pulses
    }

    /// Drives a pin from outside; `None` lets go.
    pub fn set_pin(&mut self, pin: Pin, level: Option<bool>) {
        each_mut!(self, e => e.chip.drive(vec![(pin, level)]));
    }

    /// Connects a fixed voltage to a channel of the analogue to digital converter.
    pub fn adc_volts(&mut self, channel: u8, volts: f64) {
        self.adc_input(channel, Box::new(move |_| volts));
    }

    /// Connects a voltage that is asked for whenever a sample ends.
    pub fn adc_input(&mut self, channel: u8, volts: Box<dyn Fn(&Probe<'_>) -> f64 + Send>) {
        self.common_mut().adc_inputs.insert(channel, volts);
    }

    /// Puts a part on a serial interface ("usci_b0"), selected while `cs` is low. In the ledger it is component `name`.
    ///
    /// # Errors
    /// If there is no such interface.
    pub fn attach_spi(
        &mut self,
        name: &str,
        serial: &str,
        cs: Pin,
        part: Box<dyn Part>,
    ) -> Result<(), MachineError> {
        self.attach_part(name, Wiring { serial: Some(serial), cs: Some(cs) }, part)
    }

    /// Wires a part to the chip. It appears in the ledger as component `name`.
    ///
    /// # Errors
    /// If there is no such serial interface, or a part that answers at an I2C address is wired to one without I2C, or
    /// shares its address with another.
    pub fn attach_part(
        &mut self,
        name: &str,
        wiring: Wiring<'_>,
        part: Box<dyn Part>,
    ) -> Result<(), MachineError> {
        let serial = wiring.serial.map(|s| self.serial(s)).transpose()?;
        if !part.addresses().is_empty() {
            self.check_bus(name, wiring.serial.unwrap_or("nothing"), &*part)?;
        }
        let cycles = self.cycles();
        let drives = self.common_mut().attach(name, serial, wiring, part, cycles);
        each_mut!(self, e => e.chip.drive(drives));
        Ok(())
    }

    /// The chip's serial interfaces by name ("usci_b0").
    #[must_use]
    pub fn serials(&self) -> &[&'static str] {
        each!(self, e => e.chip.serials())
    }

    /// Those of them that the chip has and that are an I2C master where the program wants it.
    #[must_use]
    pub fn i2c_serials(&self) -> Vec<&'static str> {
        let there = |name: &str| self.device().block(name).is_some();
        let masters = ["eusci_b", "usci_b", "twi", "i2c"];
        let speaks = |name: &&str| masters.iter().any(|m| name.starts_with(m)) && there(name);
        self.serials().iter().copied().filter(speaks).collect()
    }

    fn check_bus(&self, name: &str, serial: &str, part: &dyn Part) -> Result<(), MachineError> {
        let known = self.i2c_serials();
        if !known.contains(&serial) {
            let (name, device) = (serial.to_owned(), self.device().name.clone());
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(MachineError::NoI2c { name, device, known });
        }
        let shared = self.common().shares_address(self.serial(serial)?, part);
        shared.map_or(Ok(()), |(other, address)| {
            let (part, other, serial) = (name.to_owned(), other.to_owned(), serial.to_owned());
            Err(MachineError::AddressTaken { part, other, serial, address })
        })
    }

    fn serial(&self, name: &str) -> Result<usize, MachineError> {
        let known = self.serials();
        known.iter().position(|n| *n == name).ok_or_else(|| MachineError::NoSerial {
            name: name.to_owned(),
            known: known.join(", "),
        })
    }

    /// An attached part, by its name.
    #[must_use]
    pub fn part(&mut self, name: &str) -> Option<&mut (dyn Part + 'static)> {
        self.common_mut().parts.iter_mut().find(|a| a.name == name).map(|a| &mut *a.part)
    }

    /// The attached parts, by name.
    pub fn parts(&self) -> impl Iterator<Item = (&str, &dyn Part)> {
        self.common().telling()
    }

    /// Call behind a change of an attached part from outside: takes over its pins and state.
    pub fn sync_parts(&mut self) {
        let (now, cycles) = (self.time(), self.cycles());
        let drives = self.common_mut().sync_all(now, cycles);
        each_mut!(self, e => e.chip.drive(drives));
    }

    /// Wires ACLK (pin ACLK on the board) to a capture input that the chip does not feed itself.
    ///
    /// # Errors
    /// If there is no such input.
    pub fn wire_aclk(&mut self, timer: &str, ccr: u8, input: char) -> Result<(), MachineError> {
        if each_mut!(self, e => e.chip.wire_aclk(timer, ccr, input)) {
            Ok(())
        } else {
            Err(MachineError::NoCapture(format!("{timer} {ccr} {input}")))
        }
    }

    /// Fits a crystal to an oscillator ("lfxt1", "xt2"); 0 Hz takes it away.
    ///
    /// # Errors
    /// If the device has no such oscillator.
    pub fn fit_crystal(&mut self, oscillator: &str, hz: u32) -> Result<(), MachineError> {
        if !each_mut!(self, e => e.chip.fit_crystal(oscillator, hz)) {
            return Err(MachineError::NoOscillator(oscillator.to_owned()));
        }
        each_mut!(self, e => e.chip.reclock());
        Ok(())
    }

    /// How static memory starts from the next power-up on, instead of what the device's data say.
    pub fn set_sram_startup(&mut self, startup: SramStartup) {
        self.common_mut().sram = Some(startup);
    }

    /// Seed of what differs from unit to unit: the jitter of its oscillators.
    pub fn set_unit_seed(&mut self, seed: u64) {
        self.common_mut().state.seed = seed;
        each_mut!(self, e => e.chip.reclock());
    }

    /// Makes it another unit, before it is given a program: the jitter of its oscillators and what its static memory
    /// holds at the first power-up. An unseeded one is the unit of seed 0.
    pub fn set_unit(&mut self, seed: u64) {
        each_mut!(self, e => e.chip.fill_ram(seed));
        self.set_unit_seed(seed);
    }

    /// Bytes that left the UARTs.
    #[must_use]
    pub fn uart_log(&self) -> &[UartByte] {
        &self.common().state.uart_log
    }

    /// Takes the UART log away, leaving an empty one.
    pub fn take_uart_log(&mut self) -> Vec<UartByte> {
        std::mem::take(&mut self.common_mut().state.uart_log)
    }

    /// A byte that a UART receives, its last bit ending at `time`.
    ///
    /// # Errors
    /// If there is no such interface.
    pub fn uart_in(&mut self, serial: &str, time: Picos, byte: u8) -> Result<(), MachineError> {
        self.uart_in_at(serial, time, byte, 0)
    }

    /// The same from a sender whose bits take `bit_ps` picoseconds, 8N1; 0 is the rate that the UART has.
    ///
    /// # Errors
    /// If there is no such interface.
    pub fn uart_in_at(
        &mut self,
        serial: &str,
        time: Picos,
        byte: u8,
        bit_ps: u128,
    ) -> Result<(), MachineError> {
        let i = self.serial(serial)?;
        each_mut!(self, e => e.chip.uart_in(i, time, byte, bit_ps));
        Ok(())
    }

    // ---- snapshots
}
