// SPDX-License-Identifier: MIT OR Apache-2.0
//! Integrals of several functions at once by Gauss and Kronrod's pair of 7 and 15 points, which tells how close it is.

/// Nodes of Gauss and Kronrod's pair of 7 and 15 points on -1 to 1, the positive ones (Piessens, de Doncker-Kapenga,
/// Ueberhuber and Kahaner, QUADPACK, 1983, routine QK15); their weights, and those of Gauss at every second.
const NODES: [f64; 8] = [
    0.991_455_371_120_812_6,
    0.949_107_912_342_758_5,
    0.864_864_423_359_769_1,
    0.741_531_185_599_394_4,
    0.586_087_235_467_691_1,
    0.405_845_151_377_397_2,
    0.207_784_955_007_898_47,
    0.0,
];
const KRONROD: [f64; 8] = [
    0.022_935_322_010_529_224,
    0.063_092_092_629_978_55,
    0.104_790_010_322_250_18,
    0.140_653_259_715_525_92,
    0.169_004_726_639_267_9,
    0.190_350_578_064_785_4,
    0.204_432_940_075_298_9,
    0.209_482_141_084_727_82,
];
const GAUSS: [f64; 4] = [
    0.129_484_966_168_869_7,
    0.279_705_391_489_276_64,
    0.381_830_050_505_118_9,
    0.417_959_183_673_469_4,
];
/// Largest difference between the two sums, as a share of what they sum: that of 15 points is far closer then.
pub(crate) const AGREE: f64 = 1e-8;

/// Integrals over a stretch of `dx` from `x`; none where the two sums differ by more than that share. Of each integral
/// the caller says what it is a share of.
pub(crate) fn integrals<const M: usize>(
    (x, dx): (f64, f64),
    mut of: impl FnMut(f64) -> [f64; M],
    scale: impl Fn(&[f64; M], usize) -> f64,
) -> Option<[f64; M]> {
    let half = dx / 2.0;
    let (mut kronrod, mut gauss) = ([0.0; M], [0.0; M]);
    let mut add = |node: f64, k: f64, g: f64| {
        let y = of(x + half * (1.0 + node));
        for i in 0..M {
            kronrod[i] += half * k * y[i];
            gauss[i] += half * g * y[i];
        }
    };
    for (i, node) in NODES.into_iter().enumerate() {
        let g = if i % 2 == 1 { GAUSS[i / 2] } else { 0.0 };
        add(node, KRONROD[i], g);
        if node > 0.0 {
            add(-node, KRONROD[i], g);
        }
    }
    let agrees = |i: usize| (kronrod[i] - gauss[i]).abs() <= AGREE * scale(&kronrod, i).abs();
    (0..M).all(agrees).then_some(kronrod)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_are_those_of_the_closed_forms_and_a_bend_is_refused() {
        let of = |x: f64| [x.exp(), 1.0 / x, x.powi(20)];
        let [e, ln, power] = integrals((1.0, 0.5), of, |all, i| all[i]).unwrap();
        for (is, must) in [
            (e, 1.5f64.exp() - 1.0f64.exp()),
            (ln, 1.5f64.ln()),
            (power, (1.5f64.powi(21) - 1.0) / 21.0),
        ] {
            assert!((is / must - 1.0).abs() < 1e-14, "{is} {must}");
        }
        let back = integrals((1.5, -0.5), of, |all, i| all[i]).unwrap();
        assert!((back[0] + e).abs() < 1e-14);
        let bent = |x: f64| [(x - 1.2f64).abs()];
        assert_eq!(integrals((1.0, 0.5), bent, |all, i| all[i]), None);
    }
}
