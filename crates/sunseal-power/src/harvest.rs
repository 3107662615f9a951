// SPDX-License-Identifier: MIT OR Apache-2.0
//! A trace of what a panel offers: time and power, checked.
//!
//! The file is CSV: lines that begin with `#` say where it comes from (`# key: value`), then a head
//! line, `time_s,power_w` or `time_s,voltage_v,current_a` (at the maximum power point), then rows.
//! `# step_s: 60` states the spacing; without it the first one counts. Between two rows the power is
//! the mean of both, so that a trace holds exactly the energy of its trapezoids.

use std::path::Path;

/// What is wrong with a trace.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HarvestError {
    /// The file cannot be read.
    #[error("harvest trace {path}: {reason}")]
    Read {
        /// Which file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// A line.
    #[error("harvest trace {path}, line {line}: {reason}")]
    Line {
        /// Which file, or "arrays".
        path: String,
        /// Line of the file; row of the arrays, from 1.
        line: usize,
        /// What is wrong and what would be right.
        reason: String,
    },
}

/// Power over time.
#[derive(Clone, Debug, PartialEq)]
pub struct HarvestTrace {
    time_s: Vec<f64>,
    power_w: Vec<f64>,
    provenance: Vec<(String, String)>,
}

impl HarvestTrace {
    /// Reads a file.
    ///
    /// # Errors
    /// If a line is not sound; the sentence names it.
    pub fn load(path: &Path) -> Result<Self, HarvestError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| HarvestError::Read { path: shown.clone(), reason: e.to_string() })?;
        Self::parse(&text, &shown)
    }

    /// Reads text; `path` is for messages.
    ///
    /// # Errors
    /// If a line is not sound; the sentence names it.
    pub fn parse(text: &str, path: &str) -> Result<Self, HarvestError> {
        let bad = |line: usize, reason: String| HarvestError::Line {
            path: path.to_owned(),
            line,
            reason,
        };
        let (mut provenance, mut head) = (Vec::new(), None);
        let (mut rows, mut lines) = (Vec::new(), Vec::new());
        for (i, line) in text.lines().enumerate() {
            let (number, line) = (i + 1, line.trim());
            if let Some(note) = line.strip_prefix('#') {
                if let Some((k, v)) = note.split_once(':') {
                    provenance.push((k.trim().to_owned(), v.trim().to_owned()));
                }
                continue;
            }
            if line.is_empty() {
                continue;
            }
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            let Some(columns) = head else {
                head = Some(match cells.as_slice() {
                    ["time_s", "power_w"] => 2,
                    ["time_s", "voltage_v", "current_a"] => 3,
                    _ => {
                        let want = "time_s,power_w or time_s,voltage_v,current_a";
                        return Err(bad(
                            number,
                            format!("the head is {line:?}; it must be {want}"),
                        ));
                    }
                });
                continue;
            };
            if cells.len() != columns {
                return Err(bad(
                    number,
                    format!("{} cells where the head has {columns}", cells.len()),
                ));
            }
            let mut row = [0.0; 3];
            for (value, cell) in row.iter_mut().zip(&cells) {
                *value =
                    cell.parse().map_err(|_| bad(number, format!("{cell:?} is not a number")))?;
            }
            rows.push(row);
            lines.push(number);
        }
        if head.is_none() {
            return Err(bad(
                text.lines().count().max(1),
                "no head line; it must be time_s,power_w".into(),
            ));
        }
        let time_s = rows.iter().map(|r| r[0]).collect();
        let power_w =
            rows.iter().map(|r| if head == Some(3) { r[1] * r[2] } else { r[1] }).collect();
        if let Some(i) = rows.iter().position(|r| head == Some(3) && (r[1] < 0.0 || r[2] < 0.0)) {
            return Err(bad(
                lines[i],
                "voltage or current is negative; both must be zero or more".into(),
            ));
        }
        let step = provenance.iter().find(|(k, _)| k == "step_s").and_then(|(_, v)| v.parse().ok());
        Self::checked(
            time_s,
            power_w,
            provenance,
            step,
            |row| lines.get(row).copied().unwrap_or(0),
            path,
        )
    }

    /// Takes arrays.
    ///
    /// # Errors
    /// If a row is not sound; the sentence names it, from 1.
    pub fn from_arrays(time_s: Vec<f64>, power_w: Vec<f64>) -> Result<Self, HarvestError> {
        if time_s.len() != power_w.len() {
            return Err(HarvestError::Line {
                path: "arrays".into(),
                line: time_s.len().min(power_w.len()) + 1,
                reason: format!(
                    "{} times and {} powers; give one power for each time",
                    time_s.len(),
                    power_w.len()
                ),
            });
        }
        Self::checked(time_s, power_w, Vec::new(), None, |row| row + 1, "arrays")
    }

    /// The same power always.
    ///
    /// # Errors
    /// If the power or duration is not sound.
    pub fn constant(power_w: f64, duration_s: f64) -> Result<Self, HarvestError> {
        Self::from_arrays(vec![0.0, duration_s], vec![power_w; 2])
    }

    fn checked(
        time_s: Vec<f64>,
        power_w: Vec<f64>,
        provenance: Vec<(String, String)>,
        step_s: Option<f64>,
        line: impl Fn(usize) -> usize,
        path: &str,
    ) -> Result<Self, HarvestError> {
        let bad = |row: usize, reason: String| HarvestError::Line {
            path: path.to_owned(),
            line: line(row),
            reason,
        };
        if time_s.len() < 2 {
            return Err(bad(0, format!("{} rows; a trace has at least two", time_s.len())));
        }
        for (i, (&t, &p)) in time_s.iter().zip(&power_w).enumerate() {
            if !t.is_finite() {
                return Err(bad(i, format!("time_s is {t}; it must be a number")));
            }
            if !p.is_finite() {
                return Err(bad(i, format!("the power is {p} W; it must be a number")));
            }
            if p < 0.0 {
                return Err(bad(i, format!("the power is {p} W; a panel gives zero or more")));
            }
        }
        let step = step_s.unwrap_or(time_s[1] - time_s[0]);
        for i in 1..time_s.len() {
            let (before, now) = (time_s[i - 1], time_s[i]);
            if now <= before {
                return Err(bad(
                    i,
                    format!("time_s goes from {before} to {now}; it must always grow"),
                ));
            }
            if now - before > 1.5 * step {
                let gap = now - before;
                return Err(bad(
                    i,
                    format!(
                        "a gap of {gap} s where the rows are {step} s apart; fill it with rows"
                    ),
                ));
            }
        }
        if time_s[0] != 0.0 {
            return Err(bad(0, format!("the trace begins at {} s; it must begin at 0", time_s[0])));
        }
        Ok(Self { time_s, power_w, provenance })
    }

    /// What the file says of itself.
    #[must_use]
    pub fn provenance(&self) -> &[(String, String)] {
        &self.provenance
    }

    /// Its length.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.time_s[self.time_s.len() - 1]
    }

    /// The power from `t_s` on and until when it stays so. After the end it is 0 for ever.
    #[must_use]
    pub fn at(&self, t_s: f64) -> (f64, f64) {
        let i = self.time_s.partition_point(|&t| t <= t_s);
        if i >= self.time_s.len() {
            return (0.0, f64::INFINITY);
        }
        let i = i.max(1);
        ((self.power_w[i - 1] + self.power_w[i]) / 2.0, self.time_s[i])
    }

    /// Energy of the whole trace.
    #[must_use]
    pub fn energy_j(&self) -> f64 {
        let pieces = self.time_s.windows(2).zip(self.power_w.windows(2));
        pieces.map(|(t, p)| (t[1] - t[0]) * (p[0] + p[1]) / 2.0).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        HarvestTrace::parse(text, "day.csv").unwrap_err().to_string()
    }

    #[test]
    fn a_sound_trace_keeps_its_trapezoids_and_its_provenance() {
        let t = HarvestTrace::parse(
            "# source: roof, June\ntime_s,power_w\n0,0\n60,0.1\n120,0.3\n",
            "x",
        )
        .unwrap();
        assert_eq!(t.provenance(), [("source".to_owned(), "roof, June".to_owned())]);
        assert!((t.energy_j() - (3.0 + 12.0)).abs() < 1e-12);
        assert_eq!(t.at(0.0), (0.05, 60.0));
        assert_eq!(t.at(59.999), (0.05, 60.0));
        assert_eq!(t.at(60.0), (0.2, 120.0));
        assert_eq!(t.at(120.0), (0.0, f64::INFINITY));
        let vi =
            HarvestTrace::parse("time_s,voltage_v,current_a\n0,2,0.5\n1,2,0.5\n", "x").unwrap();
        assert_eq!(vi.at(0.5).0, 1.0);
    }

    #[test]
    fn each_mistake_is_named_with_its_line() {
        let head = "time_s,power_w\n";
        let back = error(&format!("{head}0,0\n60,1\n30,1\n"));
        assert_eq!(
            back,
            "harvest trace day.csv, line 4: time_s goes from 60 to 30; it must always grow"
        );
        assert!(error(&format!("{head}0,0\n60,1\n300,1\n")).contains("line 4: a gap of 240 s"));
        assert!(error(&format!("{head}0,0\n60,-1\n")).contains("line 3: the power is -1 W"));
        assert!(error(&format!("{head}0,0\n60,NaN\n")).contains("line 3: the power is NaN W"));
        assert!(error(&format!("{head}0,0\ninf,1\n")).contains("line 3: time_s is inf"));
        assert!(error(&format!("{head}0,0\n60,x\n")).contains("line 3: \"x\" is not a number"));
        assert!(
            error(&format!("{head}0,0\n60\n")).contains("line 3: 1 cells where the head has 2")
        );
        assert!(error(&format!("{head}5,0\n60,1\n")).contains("line 2: the trace begins at 5 s"));
        assert!(error("seconds,watts\n0,0\n").contains("line 1: the head is"));
        assert!(error("# nothing\n").contains("no head line"));
        assert!(error(&format!("{head}0,0\n")).contains("1 rows"));
        let vi = error("time_s,voltage_v,current_a\n0,2,0\n1,-2,-1\n");
        assert!(vi.contains("line 3: voltage or current is negative"), "{vi}");
        let arrays = HarvestTrace::from_arrays(vec![0.0, 1.0], vec![1.0]).unwrap_err();
        assert!(arrays.to_string().contains("2 times and 1 powers"));
    }
}
