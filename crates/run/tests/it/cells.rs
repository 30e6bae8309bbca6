//! Runs of experiments with cells left out, contrasts of their own and resources that differ; and what is known of them before.

use std::time::Duration;

use loadline_model::experiment::{
    Bound, Capacity, CellSpec, ContrastSpec, Experiment, Interleave, Isolation, Objective, PlatformKind,
};
use loadline_model::load::{Arrivals, Load};
use loadline_model::notes::{Note, Resources};
use loadline_model::plan::{Plan, Role};
use loadline_model::platform::{Kubernetes, Limits, Probes};
use loadline_model::preview::Preview;
use loadline_model::{CellId, LoadId, PlatformId, ServiceId};
use loadline_run::{RunError, preview};

use crate::fake::{World, experiment, with};

fn cell(platform: usize, load: usize) -> CellSpec {
    CellSpec { service: ServiceId(0), platform: PlatformId(platform), load: LoadId(load) }
}

/// Host, pod and a second pod at 2000/s and 1000/s. Of the second load the pod is left out; each pod is compared with the other or with
/// nothing.
fn with_holes() -> Experiment {
    let mut base = experiment();
    let mut second = base.platforms[1].clone();
    second.name = "second pod".to_owned();
    base.platforms.push(second);
    let mut slower = base.loads[0].clone();
    slower.load = Load::Open { rate: "1000/s".parse().unwrap(), arrivals: Arrivals::Uniform };
    base.loads.push(slower);
    let mut experiment = base.with_cells(vec![cell(0, 0), cell(1, 0), cell(2, 0), cell(0, 1), cell(2, 1)]);
    experiment.contrasts = vec![
        ContrastSpec { candidate: cell(2, 0), baseline: cell(1, 0) },
        ContrastSpec { candidate: cell(0, 0), baseline: cell(2, 0) },
        ContrastSpec { candidate: cell(0, 0), baseline: cell(1, 0) },
    ];
    experiment
}

/// What was driven in the first block, in order.
fn first_block(world: &World) -> Vec<CellId> {
    let slices = world.journal.slices.borrow();
    slices.iter().filter(|slice| (slice.round, slice.block) == (0, 0)).map(|slice| slice.cell).collect()
}

fn turns(preview: &Preview) -> Vec<CellId> {
    preview.first_block.iter().flat_map(|turn| turn.cells.clone()).collect()
}

#[test]
fn cells_that_are_left_out_are_never_driven_and_all_others_once_a_block() {
    let mut world = World::new(with_holes());
    world.run().unwrap();
    let plan = world.plan.clone();
    // Host, pod, second pod and the pod's twin at 2000/s; host and second pod at 1000/s.
    assert_eq!((plan.sites.len(), plan.cells.len()), (4, 6));
    let pod = plan.sites.iter().position(|site| site.platform == PlatformId(1) && !site.twin).unwrap();
    assert_eq!(plan.cells_of(loadline_model::SiteId(pod)).count(), 1);
    let slices = world.journal.slices.borrow();
    for id in plan.cell_ids() {
        assert_eq!(slices.iter().filter(|slice| slice.cell == id).count(), 2 * 3, "cell {id}");
        let load = &world.experiment.load(plan.load_of(id)).load;
        assert!(slices.iter().filter(|slice| slice.cell == id).all(|slice| slice.load == *load));
    }
    assert_eq!(slices.len(), 6 * 6);
}

#[test]
fn a_cell_in_several_contrasts_is_measured_once_and_one_in_none_as_well() {
    let plan = Plan::new(&with_holes());
    assert_eq!(plan.planned_contrasts().count(), 3);
    assert_eq!(plan.noise_contrasts().count(), 1);
    assert_eq!(plan.cells_as(Role::Uncompared).count(), 2, "both cells of the second load");
}

#[test]
fn the_first_block_is_known_before_the_run() {
    for change in [
        (|_: &mut Experiment| ()) as fn(&mut Experiment),
        |experiment| experiment.plan.seed = 8,
        |experiment| experiment.plan.isolation = Isolation::Exclusive,
        |experiment| experiment.plan.interleave = Interleave::Requests,
    ] {
        let mut experiment = with_holes();
        change(&mut experiment);
        let mut world = World::new(experiment);
        let known = preview(&world.experiment, &world.plan).unwrap();
        world.run().unwrap();
        let mut seen = first_block(&world);
        if world.experiment.plan.isolation == Isolation::Exclusive {
            // The first block of the first site; those of the others follow.
            seen.truncate(turns(&known).len());
            assert_eq!((known.stages, known.first_stage.len()), (4, 1));
        }
        assert_eq!(turns(&known), seen);
    }
}

#[test]
fn sites_that_hold_back_come_later_in_the_order_that_is_known_before() {
    let mut experiment = with_holes();
    experiment.platforms[1].kind =
        PlatformKind::Kubernetes(Kubernetes { probes: Probes::Default, ..Kubernetes::default() });
    assert!(experiment.platforms[1].kind.capabilities(false).holds_back);
    let mut world = World::new(experiment);
    let pods: Vec<usize> = (0..world.plan.sites.len())
        .filter(|site| world.plan.sites[*site].platform == PlatformId(1))
        .collect();
    for pod in pods {
        world = world.site(pod, |behaviour| behaviour.is_slow_to_start = true);
    }
    let known = preview(&world.experiment, &world.plan).unwrap();
    world.run().unwrap();
    assert_eq!(turns(&known), first_block(&world));
}

#[test]
fn slow_cells_are_foreseen_side_by_side_if_the_machine_is_idle() {
    let mut slow = with(|plan| plan.slice = Duration::from_secs(2));
    slow.loads[0].load = Load::Open { rate: "100/min".parse().unwrap(), arrivals: Arrivals::Uniform };
    let mut world = World::new(slow);
    let known = preview(&world.experiment, &world.plan).unwrap();
    world.run().unwrap();
    assert!(known.side_by_side_if_idle);
    assert_eq!(known.first_block.len(), 1);
    assert_eq!((turns(&known), known.first_block[0].seconds), (first_block(&world), 6.0));
}

#[test]
fn slices_take_as_long_as_foreseen_and_warm_ups_stay_within_their_bounds() {
    let mut world = World::new(with_holes());
    let time = preview(&world.experiment, &world.plan).unwrap().time;
    world.run().unwrap();
    let slices: f64 = world.journal.slices.borrow().iter().map(|slice| slice.duration_s).sum();
    assert!((slices - time.slices_s).abs() < 1e-9, "{slices} s, not {}", time.slices_s);
    assert_eq!(time.repeats_s.most, time.slices_s, "one repeat each");
    let warm_ups: f64 = world.journal.warm_ups.borrow().iter().map(|warm_up| warm_up.seconds).sum();
    assert!(
        // Sums of floating-point numbers may differ in their last digit.
        (time.warm_ups_s.least - 1e-9..=time.warm_ups_s.most).contains(&warm_ups),
        "{warm_ups} s, not {:?}",
        time.warm_ups_s
    );
    assert!(time.total_s.least >= time.slices_s && time.total_s.most > time.total_s.least);
}

#[test]
fn a_search_that_cannot_end_in_time_is_refused_with_what_could() {
    let objective = |most_ns| Objective {
        text: "p99".to_owned(),
        metric: "response.p99".to_owned(),
        bound: Bound::AtMost(most_ns),
        unit: None,
    };
    let refused = |precision, within| {
        let mut experiment = experiment();
        let objectives = vec![objective(50e6)];
        experiment.capacity = Some(Capacity { objectives, precision, most: None });
        experiment.plan.within = Some(Duration::from_secs(within));
        let plan = Plan::new(&experiment);
        match preview(&experiment, &plan) {
            Err(RunError::OutOfTime(refused)) => Some(refused),
            known => known.map(|_| None).expect("a preview"),
        }
    };
    assert_eq!(refused(0.1, 3600), None);
    // Slices of 10 s.
    let fine = refused(0.005, 120).expect("more than ten minutes");
    assert!(fine.least > Duration::from_secs(600), "{fine}");
    let possible = fine.possible.expect("slices of a second or two");
    assert!((0.02..=0.2).contains(&possible), "{fine}");
    assert_eq!(refused(possible, 120), None);
    let hopeless = refused(0.02, 5).expect("slices of 2.5 s");
    assert_eq!(hopeless.possible, None);
    assert!(hopeless.to_string().contains(" to ±2% within 5s: the fewest trials take "), "{hopeless}");
}

#[test]
fn what_two_sides_of_a_comparison_may_use_is_noted_where_it_differs() {
    let mut experiment = experiment();
    let own = Limits { cpus: Some(0.5), memory_bytes: None };
    experiment.platforms[1].limits = own;
    let mut world = World::new(experiment);
    world.run().unwrap();
    let expected = Note::UnequalResources {
        candidate: "hello on pod".to_owned(),
        candidate_has: Resources { limits: own, cpus: Some(vec![0]) },
        baseline: "hello on host".to_owned(),
        baseline_has: Resources { limits: Limits::default(), cpus: Some(vec![0]) },
    };
    assert!(world.journal.notes.borrow().contains(&expected), "{:?}", world.journal.notes.borrow());
    let mut same = World::new(crate::fake::experiment());
    same.run().unwrap();
    let unequal = |note: &Note| matches!(note, Note::UnequalResources { .. });
    assert!(!same.journal.notes.borrow().iter().any(unequal));
}
