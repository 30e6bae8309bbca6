//! `matrix:` of a service, a platform or a load, which stands for one of them with each combination of the values:
//!
//! ```yaml
//! platforms:
//!   - host:
//!     matrix: {limits.cpu: [0.25, 0.5, 1], env.GOMAXPROCS: [1, 4], exclude: [{limits.cpu: 1, env.GOMAXPROCS: 1}]}
//! ```
//!
//! It is expanded before anything is read, so that each of them is read, checked and written as if it stood there by itself.

use serde_json::{Value, json};

use super::platforms;
use crate::error::{Complaint, Place, Problems};
use crate::node::{Node, Shape, Text};
use crate::options::{Detail, Kind};
use crate::schema::Definitions;

const KEY: &str = "matrix";
/// Combinations that are left out.
const EXCLUDE: &str = "exclude";
/// A matrix of more is a mistake.
const MOST: usize = 1_000;

/// The key in the tables of services, platforms and loads, for their schema. Nothing of it is left when they are read.
#[derive(Debug)]
pub(super) struct MatrixKind;

impl Kind for MatrixKind {
    type Value = ();

    fn read(&self, _: Node, _: &str, _: &mut Problems) -> Option<()> {
        Some(())
    }

    fn write(&self, (): &(), _: Detail) -> Node {
        Node::map([], Place::File)
    }

    fn schema(&self, _: &mut Definitions) -> Value {
        json!({
            "type": "object",
            "properties": { EXCLUDE: { "type": "array", "items": { "type": "object" } } },
            "additionalProperties": { "type": "array", "minItems": 1 },
            "minProperties": 1,
        })
    }
}

/// Puts what each matrix stands for in its place.
pub(super) fn expand(root: &mut Node, problems: &mut Problems) {
    let has_matrix = root.get_mut("service").is_some_and(|service| service.get_mut(KEY).is_some());
    if has_matrix && let Some(service) = root.take("service") {
        let place = service.place.clone();
        root.set("services", Node::list(vec![service], place));
    }
    for (list, name) in
        [("services", name_of_service as Name), ("platforms", name_of_platform), ("loads", |_| None)]
    {
        if let Some(Node { shape: Shape::List(elements), .. }) = root.get_mut(list) {
            let each = std::mem::take(elements).into_iter();
            *elements = each.flat_map(|element| expanded(element, list, name, problems)).collect();
        }
    }
}

/// What an element is called that has no name.
type Name = fn(&mut Node) -> Option<String>;

fn name_of_service(service: &mut Node) -> Option<String> {
    ["builtin", "reference"].into_iter().find_map(|key| text_of(service.get_mut(key)?))
}

fn name_of_platform(platform: &mut Node) -> Option<String> {
    let kinds = platforms::KINDS.into_iter();
    kinds.map(str::to_owned).find(|kind| platform.get_mut(kind).is_some_and(|options| options.is_empty()))
}

fn text_of(node: &Node) -> Option<String> {
    match &node.shape {
        Shape::Scalar(text) => Some(text.clone()),
        Shape::List(words) => Some(words.iter().filter_map(text_of).collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

/// Where a value goes, `limits.cpu`, and the values that it has.
struct Axis {
    path: Text,
    values: Vec<Node>,
}

/// Values of some axes, whose combinations are left out.
type Excluded = Vec<(Text, Node)>;

/// One value of each axis.
type Combination<'a> = Vec<(&'a Text, &'a Node)>;

fn expanded(mut element: Node, list: &str, name: Name, problems: &mut Problems) -> Vec<Node> {
    let Some(matrix) = element.take(KEY) else { return vec![element] };
    let place = matrix.place.clone();
    let Some((axes, excluded)) = read(matrix, problems) else { return Vec::new() };
    let called = element.get_mut("name").and_then(|node| text_of(node)).or_else(|| name(&mut element));
    if called.is_none() && list != "loads" {
        let complaint = Complaint::new(format!("one of the {list} has a matrix and no name"));
        problems.add(&place, complaint.help("give it a `name`, which each of them begins with"));
        return Vec::new();
    }
    let number = axes.iter().map(|axis| axis.values.len()).fold(1, usize::saturating_mul);
    if number > MOST {
        let complaint = Complaint::new(format!("this matrix stands for {number} {list}, more than {MOST}"));
        problems.add(&place, complaint.help("give it fewer values"));
        return Vec::new();
    }
    let mut combinations = vec![Combination::new()];
    for axis in &axes {
        let mut longer = Vec::new();
        for combination in &combinations {
            longer
                .extend(axis.values.iter().map(|value| [&combination[..], &[(&axis.path, value)]].concat()));
        }
        combinations = longer;
    }
    let is_left = |combination: &Combination<'_>| !excluded.iter().any(|one| is_excluded(combination, one));
    let left: Vec<Combination<'_>> = combinations.into_iter().filter(is_left).collect();
    if left.is_empty() {
        problems
            .add(&place, Complaint::new("this matrix excludes all that it stands for").help("exclude less"));
    }
    let one = |combination: Combination<'_>| {
        let mut one = element.clone();
        if let Some(called) = &called {
            let apart: Vec<String> = combination.iter().map(|(path, value)| apart(path, value)).collect();
            one.set("name", Node::scalar(format!("{called}, {}", apart.join(", ")), place.clone()));
        }
        for (path, value) in combination {
            put(&mut one, path, value.clone());
        }
        one
    };
    left.into_iter().map(one).collect()
}

/// The axes, and the combinations that are left out.
fn read(matrix: Node, problems: &mut Problems) -> Option<(Vec<Axis>, Vec<Excluded>)> {
    let Shape::Map(entries) = matrix.shape else { return matrix.refuse(KEY, "a map", problems) };
    let (mut axes, mut excluded) = (Vec::new(), Vec::new());
    let before = problems.count();
    for (path, node) in entries {
        let Shape::List(nodes) = node.shape else {
            let _: Option<()> = node.refuse(&path.value, "a list", problems);
            continue;
        };
        if path.value == EXCLUDE {
            for node in nodes {
                match node.shape {
                    Shape::Map(entries) => excluded.push(entries),
                    _ => drop(node.refuse::<()>(EXCLUDE, "a map", problems)),
                }
            }
        } else if nodes.is_empty() {
            let complaint = Complaint::new(format!("`{}` has no values", path.value));
            problems.add(&node.place, complaint.help("give it some, or leave it out"));
        } else {
            axes.push(Axis { path, values: nodes });
        }
    }
    for (path, node) in excluded.iter().flatten() {
        if !axes.iter().any(|axis| axis.path.value == path.value) {
            let complaint = Complaint::new(format!("`{}` is excluded and not in the matrix", path.value));
            problems.add(&node.place, complaint.help("exclude values of what the matrix has"));
        }
    }
    if axes.is_empty() && problems.count() == before {
        let complaint = Complaint::new("the matrix is empty").help("write matrix: {limits.cpu: [0.5, 1]}");
        problems.add(&matrix.place, complaint);
    }
    (problems.count() == before).then_some((axes, excluded))
}

fn is_excluded(combination: &Combination<'_>, excluded: &[(Text, Node)]) -> bool {
    excluded.iter().all(|(path, value)| {
        combination.iter().any(|(of, with)| of.value == path.value && text_of(with) == text_of(value))
    })
}

/// What sets one apart: `0.5 CPU`, `512Mi`, `GOMAXPROCS=4`.
fn apart(path: &Text, value: &Node) -> String {
    let text = text_of(value).unwrap_or_default();
    match path.value.as_str() {
        "limits.cpu" => format!("{text} CPU"),
        "limits.memory" => text,
        path => format!("{}={text}", path.rsplit('.').next().unwrap_or(path)),
    }
}

/// Sets the value at a path of keys, making the maps on the way.
fn put(node: &mut Node, path: &Text, value: Node) {
    let at = |value: &str| Text { value: value.to_owned(), place: path.place.clone() };
    let Some((key, rest)) = path.value.split_once('.') else { return node.set_at(path.clone(), value) };
    let is_map = node.get_mut(key).is_some_and(|within| matches!(within.shape, Shape::Map(_)));
    if !is_map {
        node.set_at(at(key), Node::map([], path.place.clone()));
    }
    if let Some(within) = node.get_mut(key) {
        put(within, &at(rest), value);
    }
}
