//! Stacks with their CPU time, as a tree: every path from the root is a stack, so that what stacks share is kept once.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Stacks with the CPU time seen in each. Serialised as a list of names and one of nodes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Flat", into = "Flat")]
pub struct CallTree {
    flat: Flat,
    name_ids: HashMap<String, u32>,
    children: HashMap<(u32, u32), u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Flat {
    names: Vec<String>,
    /// Parent (itself plus one, 0 for none; always an earlier node), name, and the nanoseconds seen with this frame innermost.
    nodes: Vec<(u32, u32, u64)>,
}

impl From<Flat> for CallTree {
    fn from(flat: Flat) -> CallTree {
        let mut tree = CallTree::default();
        let mut ids = Vec::with_capacity(flat.nodes.len());
        for (parent, name, cpu_ns) in flat.nodes {
            // What does not fit was not written by us; it is left at the root rather than refused.
            let parent = (parent as usize).checked_sub(1).and_then(|p| ids.get(p).copied()).unwrap_or(0);
            let name = flat.names.get(name as usize).map_or("", String::as_str);
            let node = tree.child(parent, name);
            tree.flat.nodes[node as usize - 1].2 += cpu_ns;
            ids.push(node);
        }
        tree
    }
}

impl From<CallTree> for Flat {
    fn from(tree: CallTree) -> Flat {
        tree.flat
    }
}

impl PartialEq for CallTree {
    /// Equal stacks with equal times, in whatever order they came.
    fn eq(&self, other: &CallTree) -> bool {
        self.folded() == other.folded()
    }
}

impl CallTree {
    /// Adds CPU time, in nanoseconds, to a stack given from the outermost frame to the innermost.
    pub fn add<'a>(&mut self, frames: impl IntoIterator<Item = &'a str>, cpu_ns: u64) {
        let node = frames.into_iter().fold(0, |parent, name| self.child(parent, name));
        if node > 0 {
            self.flat.nodes[node as usize - 1].2 += cpu_ns;
        }
    }

    /// Adds the stacks of another tree.
    pub fn merge(&mut self, other: &CallTree) {
        let mut ids = Vec::with_capacity(other.flat.nodes.len());
        for &(parent, name, cpu_ns) in &other.flat.nodes {
            let parent = if parent == 0 { 0 } else { ids[parent as usize - 1] };
            let node = self.child(parent, &other.flat.names[name as usize]);
            self.flat.nodes[node as usize - 1].2 += cpu_ns;
            ids.push(node);
        }
    }

    /// The stacks as folded lines, sorted: frames from the outermost, separated by semicolons, and the nanoseconds.
    pub fn folded(&self) -> Vec<(String, u64)> {
        let mut paths: Vec<String> = Vec::with_capacity(self.flat.nodes.len());
        let mut lines = Vec::new();
        for &(parent, name, cpu_ns) in &self.flat.nodes {
            let name = &self.flat.names[name as usize];
            let path = match parent {
                0 => name.clone(),
                parent => format!("{};{name}", paths[parent as usize - 1]),
            };
            if cpu_ns > 0 {
                lines.push((path.clone(), cpu_ns));
            }
            paths.push(path);
        }
        lines.sort();
        lines
    }

    /// CPU time of all stacks, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.flat.nodes.iter().map(|node| node.2).sum()
    }

    fn child(&mut self, parent: u32, name: &str) -> u32 {
        let name = match self.name_ids.get(name) {
            Some(&id) => id,
            None => {
                let id = self.flat.names.len() as u32;
                self.flat.names.push(name.to_owned());
                self.name_ids.insert(name.to_owned(), id);
                id
            }
        };
        *self.children.entry((parent, name)).or_insert_with(|| {
            self.flat.nodes.push((parent, name, 0));
            self.flat.nodes.len() as u32
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tree(stacks: &[(Vec<u8>, u32)]) -> CallTree {
        let mut tree = CallTree::default();
        for (frames, ns) in stacks {
            let names: Vec<String> = frames.iter().map(|f| format!("f{f}")).collect();
            tree.add(names.iter().map(String::as_str), u64::from(*ns));
        }
        tree
    }

    fn stacks() -> impl Strategy<Value = Vec<(Vec<u8>, u32)>> {
        prop::collection::vec((prop::collection::vec(0..5u8, 1..6), 1..1000u32), 0..30)
    }

    proptest! {
        #[test]
        fn merged_trees_are_the_tree_of_all_their_stacks(a in stacks(), b in stacks()) {
            let mut merged = tree(&a);
            merged.merge(&tree(&b));
            prop_assert_eq!(&merged, &tree(&[b.clone(), a.clone()].concat()));
            let total: u64 = a.iter().chain(&b).map(|(_, ns)| u64::from(*ns)).sum();
            prop_assert_eq!(merged.total_ns(), total);
            prop_assert_eq!(merged.folded().iter().map(|(_, ns)| ns).sum::<u64>(), total);
        }

        #[test]
        fn a_tree_that_was_written_and_read_takes_more_stacks_as_if_it_had_not_been(a in stacks(), b in stacks()) {
            let text = serde_json::to_string(&tree(&a)).unwrap();
            let mut read: CallTree = serde_json::from_str(&text).unwrap();
            read.merge(&tree(&b));
            prop_assert_eq!(&read, &tree(&[a, b].concat()));
        }
    }

    #[test]
    fn a_line_names_the_frames_from_the_outermost() {
        let mut tree = CallTree::default();
        tree.add(["service", "main", "write"], 7);
        tree.add(["service", "main"], 3);
        assert_eq!(tree.folded(), [("service;main".to_owned(), 3), ("service;main;write".to_owned(), 7)]);
    }

    #[test]
    fn a_tree_that_is_not_whole_is_read_as_far_as_it_goes() {
        let tree: CallTree = serde_json::from_str(r#"{"names":["a"],"nodes":[[9,0,1],[1,7,2]]}"#).unwrap();
        assert_eq!(tree.total_ns(), 3);
    }
}
