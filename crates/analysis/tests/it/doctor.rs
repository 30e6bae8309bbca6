//! What is told of a machine from a made-up run whose noise is known.

use std::f64::consts::{PI, TAU};

use loadline_analysis::{Examination, RunData, doctor_result};
use loadline_model::SparseHistogram;
use loadline_model::result::doctor::{LeftOut, Noise, NoiseRow};

use crate::made_up::MadeUp;

fn noise(data: RunData) -> Noise {
    let result = doctor_result(Examination { run: Some(data), ..Examination::default() });
    result.noise.expect("the run has deployments enough")
}

/// Medians of 200 normal requests have a variance of π/2 · σ²/200; a difference has that of both sides.
#[test]
fn the_noise_that_was_made_up_is_found() {
    const RUNS: u64 = 20;
    let median_us2 = PI / 2.0 * 100.0 / 200.0;
    let mean = |of: fn(&Noise) -> f64| {
        let run =
            |seed| noise(MadeUp { seed, blocks: 12, deployment_noise_us: 1.0, ..MadeUp::default() }.data());
        (0..RUNS).map(|seed| of(&run(seed))).sum::<f64>() / RUNS as f64
    };
    let within = mean(|noise| noise.rows[0].variance_within) / 1e6;
    assert!((within / (2.0 * median_us2) - 1.0).abs() < 0.15, "{within}");
    let between = mean(|noise| noise.rows[0].variance_between) / 1e6;
    assert!((between / 2.0 - 1.0).abs() < 0.3, "{between}");
}

/// A figure is that of all requests together, and a slice in which all of them were slow moves the median by no more than its share.
#[test]
fn slices_that_were_slow_throughout_do_not_stand_for_all_others() {
    let quiet = MadeUp { blocks: 12, ..MadeUp::default() }.data();
    let mut loud = MadeUp { blocks: 12, ..MadeUp::default() }.data();
    for slice in loud.slices.iter_mut().filter(|slice| (slice.block as usize + slice.cell.0) % 6 == 5) {
        slice.response = SparseHistogram::default();
        slice.response.record_n(20_000_000, 200);
    }
    let [quiet, loud] = [quiet, loud].map(|data| noise(data).rows[0].clone());
    let told = |minutes| {
        let of = |row: &NoiseRow| {
            row.resolution.iter().find(|told| told.minutes == minutes).map(|told| told.difference)
        };
        of(&loud).zip(of(&quiet)).expect("both tell something")
    };
    let (loud, quiet) = told(60);
    // A sixth of the slices, at random, would move a quantile by √40 times what 200 requests do: 0.6² · 1/6 · 5/6 against 0.5²/200. The mean
    // of the slices' own medians would move by ten thousand times as much.
    assert!(loud < 10.0 * quiet, "{loud} {quiet}");
}

#[test]
fn the_longer_the_time_the_smaller_the_difference_that_is_told() {
    let noise = noise(MadeUp { blocks: 12, ..MadeUp::default() }.data());
    let ids: Vec<&str> = noise.rows.iter().map(|row| row.metric.as_str()).collect();
    assert_eq!(ids, ["response.p50", "response.p99", "cpu.service"]);
    // Slices of a second, three to a block: a minute has room for few of them.
    for row in &noise.rows[..2] {
        let minutes: Vec<u32> = row.resolution.iter().map(|told| told.minutes).collect();
        assert_eq!(minutes, [1, 10, 60]);
        assert!(row.resolution.is_sorted_by(|one, next| one.difference > next.difference), "{row:?}");
        assert!(row.half_width > 0.0 && row.figure > 0.0);
    }
    assert_eq!((noise.run.deployments, noise.run.blocks, noise.run.label.as_str()), (8, 12.0, "3fa9c1"));
    // Another platform is measured between the two: that is time in which neither of them is.
    assert_eq!((noise.run.seconds, noise.run.overhead_seconds), (288.0, 96.0));
}

#[test]
fn slices_of_a_steady_machine_do_not_correlate() {
    let noise = noise(MadeUp { blocks: 12, deployment_noise_us: 0.0, ..MadeUp::default() }.data());
    assert!(noise.correlation.len() >= 3);
    for at in &noise.correlation {
        assert!(at.correlation.abs() < 4.0 / (at.pairs as f64).sqrt(), "{at:?}");
    }
}

/// A machine that is slower and faster again within 40 s: near slices are alike, those half a period apart are opposites.
#[test]
fn a_slow_change_of_the_machine_correlates_what_is_near() {
    let mut data = MadeUp { blocks: 12, ..MadeUp::default() }.data();
    for slice in &mut data.slices {
        let us = 100.0 + 10.0 * (slice.at_s / 40.0 * TAU).sin();
        slice.response = SparseHistogram::default();
        slice.response.record_n((us * 1e3) as u64, 200);
    }
    let correlation = noise(data).correlation;
    let first = correlation.first().expect("slices that are near");
    let last = correlation.last().expect("slices that are far apart");
    assert!(first.correlation > 0.9 && last.correlation < 0.4, "{correlation:?}");
}

#[test]
fn a_single_deployment_is_too_few_for_an_estimate() {
    let run = MadeUp { rounds: 1, blocks: 12, ..MadeUp::default() }.data();
    let result = doctor_result(Examination { run: Some(run), ..Examination::default() });
    assert!(result.noise.is_none());
    let left_out: Vec<LeftOut> = result.left_out.into_iter().filter_map(|left_out| left_out.what).collect();
    assert!(left_out.contains(&LeftOut::FewDeployments { deployments: 1 }), "{left_out:?}");
    assert!(left_out.contains(&LeftOut::Frequency { virtual_machine: false }), "{left_out:?}");
}
