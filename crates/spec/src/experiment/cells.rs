//! Which cells are measured and which of them are compared, where that is not every one with the first.

mod write;

use std::collections::BTreeSet;

use loadline_model::experiment::{CellSpec, ContrastSpec};
use loadline_model::load::{ConnectionOptions, Reuse};
use loadline_model::{LoadId, PlatformId, ServiceId};
use serde_json::{Value, json};

use super::{ExperimentKeys, loads};
use crate::error::{Complaint, Problems, suggestion};
use crate::kinds::{List, OneOrMore};
use crate::node::{Node, Shape, Text};
use crate::options::{Detail, Kind, Table, Written};
use crate::schema::Definitions;
use crate::{Experiment, LoadSpec};

/// What is written of cells: what is left out is any.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SelectorKeys {
    service: Option<Vec<Text>>,
    platform: Option<Vec<Text>>,
    load: Option<Vec<Text>>,
}

/// What is written of the measured cells.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CellsKeys {
    /// These alone.
    Only(Vec<Written<SelectorKeys>>),
    /// Every one but these.
    AllBut(Vec<Written<SelectorKeys>>),
}

/// What is written of one side of a comparison: what is left out is as on the other side.
#[derive(Clone, Debug, Default, PartialEq)]
struct SideKeys {
    service: Option<Vec<Text>>,
    platform: Option<Vec<Text>>,
}

/// What is written of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ContrastKeys {
    of: Written<SideKeys>,
    against: Written<SideKeys>,
    load: Option<Vec<Text>>,
}

fn selector_table() -> Table<SelectorKeys> {
    let description = "Cells that are meant; what is left out is any";
    Table::<SelectorKeys>::new("Cells", "cells", description)
        .key("service", names(), "Names of services: one, or a list", |cells| &mut cells.service)
        .key("platform", names(), "Names of platforms: one, or a list", |cells| &mut cells.platform)
        .key("load", names(), "Loads by name or rate, 2000/s, or `closed`: one, or a list", |cells| {
            &mut cells.load
        })
}

fn side_table() -> Table<SideKeys> {
    let description = "One side of a comparison; what is left out is as on the other side, or any on both";
    Table::<SideKeys>::new("Side", "side", description)
        .key("service", names(), "Names of services: one, or a list", |side| &mut side.service)
        .key("platform", names(), "Names of platforms: one, or a list", |side| &mut side.platform)
}

/// What is compared with what.
pub(super) fn contrast_table() -> Table<ContrastKeys> {
    Table::<ContrastKeys>::new(
        "Contrast",
        "contrast",
        "A comparison of cells with others under the same load",
    )
    .key("of", side_table(), "What is compared", |contrast| &mut contrast.of)
    .required("write `of: {platform: NAME}`")
    .key("against", side_table(), "What it is compared with", |contrast| &mut contrast.against)
    .required("write `against: {platform: NAME}`")
    .key("load", names(), "Loads by name or rate: one, or a list; left out, all of them", |contrast| {
        &mut contrast.load
    })
}

fn names() -> OneOrMore {
    let name = json!({ "type": ["string", "number"] });
    // No name contains a zero byte: a single text is one name, commas and all.
    OneOrMore { alone: vec![name.clone()], element: name, separator: '\0', placeholder: "NAME" }
}

/// A list of the cells that are measured, or `exclude` with a list of those that are not.
#[derive(Debug)]
pub(super) struct CellsKind;

type Selectors = List<Table<SelectorKeys>>;

impl CellsKind {
    fn list() -> Selectors {
        List { element: selector_table(), needs_one: true }
    }

    fn table() -> Table<Option<Vec<Written<SelectorKeys>>>> {
        Table::new("Excluded", "map of cells", "Every cell but some")
            .key("exclude", CellsKind::list(), "Cells that are not measured", |excluded| excluded)
            .required("write `exclude: [{platform: NAME}]`, or a list of the cells that are measured")
    }
}

impl Kind for CellsKind {
    type Value = CellsKeys;

    fn read(&self, node: Node, key: &str, problems: &mut Problems) -> Option<CellsKeys> {
        match node.shape {
            Shape::List(_) => CellsKind::list().read(node, key, problems).map(CellsKeys::Only),
            Shape::Map(_) => CellsKind::table().read(node, key, problems)?.value.map(CellsKeys::AllBut),
            _ => node.refuse(key, "a list or a map", problems),
        }
    }

    fn write(&self, cells: &CellsKeys, detail: Detail) -> Node {
        match cells {
            CellsKeys::Only(cells) => CellsKind::list().write(cells, detail),
            CellsKeys::AllBut(cells) => CellsKind::table().write(&Some(cells.clone()).into(), detail),
        }
    }

    fn schema(&self, definitions: &mut Definitions) -> Value {
        json!({ "anyOf": [CellsKind::list().schema(definitions), CellsKind::table().schema(definitions)] })
    }
}

/// Puts the measured cells and their contrasts into an experiment whose other parts are valid.
pub(super) fn cells(experiment: &mut Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    let before = problems.count();
    if let Some(written) = &keys.value.cells {
        let measured = measured(experiment, written, problems);
        if measured.is_empty() && problems.count() == before {
            let complaint = Complaint::new("no cell is left to measure").help("exclude fewer of them");
            problems.add(keys.place_of("cells"), complaint);
        }
        if problems.count() > before {
            return;
        }
        *experiment = experiment.clone().with_cells(measured);
    }
    match &keys.value.contrasts {
        Some(written) => contrasts(experiment, written, keys, problems),
        None => {
            if keys.value.searches_each_request() {
                compare_same_requests(experiment);
            }
            baselines_are_measured(experiment, keys, problems);
        }
    }
}

/// A service is compared with the first that has the same requests.
fn compare_same_requests(experiment: &mut Experiment) {
    let requests = |service: ServiceId| &experiment.service(service).requests;
    let same = |contrast: ContrastSpec| {
        let ContrastSpec { candidate, baseline } = contrast;
        if candidate.service == baseline.service {
            return Some(contrast);
        }
        let service = ServiceId::of(experiment.services.len())
            .find(|service| requests(*service) == requests(candidate.service))
            .filter(|service| *service != candidate.service)?;
        Some(ContrastSpec { candidate, baseline: CellSpec { service, ..baseline } })
    };
    let contrasts = experiment.contrasts.iter().copied().filter_map(same).collect();
    experiment.contrasts = contrasts;
}

/// The cells that are measured.
fn measured(experiment: &Experiment, written: &CellsKeys, problems: &mut Problems) -> Vec<CellSpec> {
    let every = experiment.every_cell();
    let (selectors, selected_is_measured) = match written {
        CellsKeys::Only(selectors) => (selectors, true),
        CellsKeys::AllBut(selectors) => (selectors, false),
    };
    let mut selected = BTreeSet::new();
    for selector in selectors.iter().map(|selector| &selector.value) {
        let services = services(experiment, selector.service.as_deref(), problems);
        let platforms = platforms(experiment, selector.platform.as_deref(), problems);
        let loads = loads(experiment, selector.load.as_deref(), problems);
        let is_selected = |cell: &&CellSpec| {
            services.contains(&cell.service)
                && platforms.contains(&cell.platform)
                && loads.contains(&cell.load)
        };
        selected.extend(every.iter().filter(is_selected).copied());
    }
    every.into_iter().filter(|cell| selected.contains(cell) == selected_is_measured).collect()
}

/// Puts the written contrasts in the place of the usual ones.
fn contrasts(
    experiment: &mut Experiment,
    written: &[Written<ContrastKeys>],
    keys: &Written<ExperimentKeys>,
    problems: &mut Problems,
) {
    let place = keys.place_of("contrasts");
    if experiment.is_ladder() {
        let complaint =
            Complaint::new("platforms on a ladder (`above`) are compared with the one below them");
        problems.add(place, complaint.help("leave out either `above` or `contrasts`"));
        return;
    }
    if written.is_empty() {
        let complaint = Complaint::new("the list of contrasts is empty");
        problems.add(place, complaint.help("leave it out to compare everything with the first"));
        return;
    }
    let mut contrasts: Vec<ContrastSpec> = Vec::new();
    for written in written {
        for contrast in expanded(experiment, written, problems) {
            if !contrasts.contains(&contrast) {
                contrasts.push(contrast);
            }
        }
    }
    if let Some(cell) = in_a_circle(&contrasts) {
        let message = format!("{} is compared with itself in a circle", called(experiment, cell));
        let help = "leave out one of the contrasts, so that there is a baseline to begin with";
        problems.add(place, Complaint::new(message).help(help));
    }
    experiment.contrasts = contrasts;
}

/// What one entry compares: what is left out on one side is as on the other, and any if it is left out on both. Of what is left out, only
/// what is measured on both sides is compared.
fn expanded(
    experiment: &Experiment,
    written: &Written<ContrastKeys>,
    problems: &mut Problems,
) -> Vec<ContrastSpec> {
    let before = problems.count();
    let (of, against) = (&written.value.of.value, &written.value.against.value);
    let service_pairs = pairs(
        of.service.is_some().then(|| services(experiment, of.service.as_deref(), problems)),
        against.service.is_some().then(|| services(experiment, against.service.as_deref(), problems)),
        ServiceId::of(experiment.services.len()),
    );
    let platform_pairs = pairs(
        of.platform.is_some().then(|| platforms(experiment, of.platform.as_deref(), problems)),
        against.platform.is_some().then(|| platforms(experiment, against.platform.as_deref(), problems)),
        PlatformId::of(experiment.platforms.len()),
    );
    let mut contrasts = Vec::new();
    for load in loads(experiment, written.value.load.as_deref(), problems) {
        for (service, base_service) in &service_pairs {
            for (platform, base_platform) in &platform_pairs {
                contrasts.push(ContrastSpec {
                    candidate: CellSpec { load, service: *service, platform: *platform },
                    baseline: CellSpec { load, service: *base_service, platform: *base_platform },
                });
            }
        }
    }
    if problems.count() > before {
        return Vec::new();
    }
    if contrasts.iter().all(|contrast| contrast.candidate == contrast.baseline) {
        let complaint = Complaint::new("both sides of this contrast are the same cells");
        problems.add(
            &written.place,
            complaint.help("name different platforms or services in `of` and `against`"),
        );
        return Vec::new();
    }
    contrasts.retain(|contrast| contrast.candidate != contrast.baseline);
    let is_measured = |contrast: &ContrastSpec| {
        experiment.cells.contains(&contrast.candidate) && experiment.cells.contains(&contrast.baseline)
    };
    if let Some(first) = contrasts.first().filter(|_| !contrasts.iter().any(is_measured)) {
        let missing =
            [first.candidate, first.baseline].into_iter().find(|cell| !experiment.cells.contains(cell));
        let missing = missing.map_or_else(String::new, |cell| called(experiment, cell));
        let complaint = Complaint::new(format!("{missing} is not measured, so it cannot be compared"));
        problems
            .add(&written.place, complaint.help("measure it as well (`cells`), or leave this contrast out"));
    }
    contrasts.retain(is_measured);
    contrasts
}

/// The ids of both sides; what only one of them names is the same on the other.
fn pairs<Id: Copy>(
    of: Option<Vec<Id>>,
    against: Option<Vec<Id>>,
    every: impl Iterator<Item = Id>,
) -> Vec<(Id, Id)> {
    match (of, against) {
        (Some(of), Some(against)) => {
            of.iter().flat_map(|one| against.iter().map(move |other| (*one, *other))).collect()
        }
        (Some(same), None) | (None, Some(same)) => same.into_iter().map(|id| (id, id)).collect(),
        (None, None) => every.map(|id| (id, id)).collect(),
    }
}

/// A cell that is compared with itself by way of others.
fn in_a_circle(contrasts: &[ContrastSpec]) -> Option<CellSpec> {
    let mut left = contrasts.to_vec();
    loop {
        let before = left.len();
        let candidates: Vec<CellSpec> = left.iter().map(|contrast| contrast.candidate).collect();
        // What leads to a baseline that is compared with nothing is in no circle.
        left.retain(|contrast| candidates.contains(&contrast.baseline));
        if left.len() == before {
            return left.first().map(|contrast| contrast.candidate);
        }
    }
}

/// What is compared with the first by default finds it measured.
fn baselines_are_measured(
    experiment: &mut Experiment,
    keys: &Written<ExperimentKeys>,
    problems: &mut Problems,
) {
    let missing = experiment.contrasts.iter().find(|contrast| !experiment.cells.contains(&contrast.baseline));
    if let Some(ContrastSpec { candidate, baseline }) = missing {
        let (candidate, baseline) = (called(experiment, *candidate), called(experiment, *baseline));
        let message = format!("{candidate} is compared with {baseline}, which is not measured");
        let help = "measure that as well, or say in `contrasts` what is compared with what";
        problems.add(keys.place_of("cells"), Complaint::new(message).help(help));
    }
}

/// `orders on pod at 2000/s`
fn called(experiment: &Experiment, cell: CellSpec) -> String {
    let (service, platform) = (experiment.service(cell.service), experiment.platform(cell.platform));
    format!("{} on {} at {}", service.name, platform.name, load_word(&experiment.loads, cell.load))
}

fn services(experiment: &Experiment, words: Option<&[Text]>, problems: &mut Problems) -> Vec<ServiceId> {
    let names: Vec<&str> = experiment.services.iter().map(|service| service.name.as_str()).collect();
    selected(words, "service", &names, problems).into_iter().map(ServiceId).collect()
}

fn platforms(experiment: &Experiment, words: Option<&[Text]>, problems: &mut Problems) -> Vec<PlatformId> {
    let names: Vec<&str> = experiment.platforms.iter().map(|platform| platform.name.as_str()).collect();
    selected(words, "platform", &names, problems).into_iter().map(PlatformId).collect()
}

/// The places of these names, all of them without any.
fn selected(words: Option<&[Text]>, what: &str, names: &[&str], problems: &mut Problems) -> Vec<usize> {
    let Some(words) = words else { return (0..names.len()).collect() };
    let place_of = |text: &str| {
        let found = names.iter().position(|name| *name == text.trim());
        found.ok_or_else(|| {
            let text = text.trim();
            Complaint::new(format!("there is no {what} `{text}` here")).help(suggestion(text, names))
        })
    };
    words.iter().filter_map(|word| word.read(problems, place_of)).collect()
}

fn loads(experiment: &Experiment, words: Option<&[Text]>, problems: &mut Problems) -> Vec<LoadId> {
    let all = &experiment.loads;
    let Some(words) = words else { return LoadId::of(all.len()).collect() };
    let mut found: Vec<LoadId> = Vec::new();
    for word in words {
        let meant = word.read(problems, |text| {
            let meant: Vec<LoadId> =
                LoadId::of(all.len()).filter(|id| is_called(&all[id.0], text.trim())).collect();
            if meant.is_empty() {
                let known: Vec<String> = LoadId::of(all.len()).map(|id| load_word(all, id)).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let complaint = Complaint::new(format!("there is no load `{}` here", text.trim()));
                return Err(complaint.help(suggestion(text.trim(), &known)));
            }
            Ok(meant)
        });
        found.extend(meant.into_iter().flatten());
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a load is meant: by its name, its rate, as a closed loop, or by all that sets it apart.
fn is_called(load: &LoadSpec, word: &str) -> bool {
    let rate = || loads::rate(word).ok().zip(load.load.rate());
    load.name.as_deref() == Some(word)
        || full_text(load) == word
        || (load.load.is_closed() && word == CLOSED)
        || rate().is_some_and(|(one, other)| one.as_per_second() == other.as_per_second())
}

/// What a closed loop is called.
const CLOSED: &str = "closed";

/// The shortest word that means this load alone.
fn load_word(all: &[LoadSpec], id: LoadId) -> String {
    let load = &all[id.0];
    if let Some(name) = &load.name {
        return name.clone();
    }
    let short = match &load.load {
        load if load.is_closed() => CLOSED.to_owned(),
        load => load.rate().map_or_else(|| load.to_string(), |rate| rate.to_string()),
    };
    match all.iter().filter(|other| is_called(other, &short)).count() {
        1 => short,
        _ => full_text(load),
    }
}

/// `2000/s Poisson, HTTP/2, 16 connections`: no two loads of an experiment have the same.
fn full_text(load: &LoadSpec) -> String {
    let kept = if load.reuse == Reuse::Never { "new connections" } else { "" };
    let (options, connections) = (ConnectionOptions::from(load), format!("{} connections", load.connections));
    let parts = [load.load.to_string(), options.to_string(), kept.to_owned(), connections];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
