//! The shared libraries that files of an image need, with the loaders of its programs, found as the loader of this machine finds them
//! (ld.so(8)): by the folders that the file names, by the loader's cache, in the default folders. No program is run for it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use oci_spec::image::Arch;

use crate::default_folders::{DefaultFolders, musl_list};
use crate::error::{ImageError, MissingLibrary};
use crate::linkage::Linkage;
use crate::source::SourceFile;
use crate::tree::{Node, Tree, without_dots};

/// What glibc opens by name while a program runs, if it is there: for the end of threads, and, before 2.34, to look up names.
const OPENED_BY_GLIBC: [&str; 4] =
    ["libgcc_s.so.1", "libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];

/// glibc's main library: where it is, the loader looks without being told.
const GLIBC: &str = "libc.so.6";

/// A folder of this machine whose files are elsewhere in the image.
#[derive(Debug, Clone)]
pub struct Moved {
    /// Without symbolic links.
    pub from: PathBuf,
    pub to: PathBuf,
}

/// A file: where it is here, and where in the image.
#[derive(Debug, Clone)]
struct Place {
    here: PathBuf,
    image: PathBuf,
}

impl Place {
    fn same(path: PathBuf) -> Place {
        Place { here: path.clone(), image: path }
    }
}

/// A file that the loader would load, and whose libraries are still to be found.
struct Loaded {
    place: Place,
    linkage: Rc<Linkage>,
    /// `DT_RPATH` of the files that led to it, the nearest first.
    inherited: Vec<Place>,
}

/// Collects libraries.
pub struct Libraries<'a> {
    defaults: DefaultFolders,
    moved: &'a [Moved],
    read: HashMap<PathBuf, Option<Rc<Linkage>>>,
    /// Files whose libraries have been found, by their paths in the image.
    done: HashSet<PathBuf>,
    /// Names of libraries that have been found or belong to the image anyway: a library that is loaded already is not looked for.
    provided: HashSet<String>,
    missing: BTreeSet<MissingLibrary>,
    found: BTreeMap<PathBuf, PathBuf>,
    /// The loader of programs that are linked to musl.
    musl: Option<PathBuf>,
}

impl<'a> Libraries<'a> {
    pub fn new(moved: &'a [Moved]) -> Libraries<'a> {
        Libraries {
            defaults: DefaultFolders::of_this_machine(),
            moved,
            read: HashMap::new(),
            done: HashSet::new(),
            provided: HashSet::new(),
            missing: BTreeSet::new(),
            found: BTreeMap::new(),
            musl: None,
        }
    }

    /// Finds the libraries of all files of a tree that are for this processor.
    pub fn of_tree(&mut self, tree: &Tree, architecture: &Arch) {
        let mut files = Vec::new();
        for (image, source) in tree.sources() {
            self.provided.extend(image.file_name().map(|name| name.to_string_lossy().into_owned()));
            let place = Place { here: source.path().to_owned(), image: image.to_owned() };
            if let Some(linkage) =
                self.linkage(&place.here).filter(|it| it.architecture.as_ref() == Some(architecture))
            {
                self.provided.extend(linkage.name.clone());
                files.push((place, linkage));
            }
        }
        // Programs first: they say which loader there is.
        files.sort_by_key(|(_, linkage)| linkage.loader.is_none());
        for (place, linkage) in files {
            self.of_file(place, linkage);
        }
    }

    /// The first library or loader that a program, or a library of it, needs and this machine lacks.
    pub fn missing_of(&mut self, image: &Path, here: &Path) -> Option<MissingLibrary> {
        let linkage = self.linkage(here)?;
        let place = Place { here: here.to_owned(), image: image.to_owned() };
        let mut alone = Libraries { provided: self.provided.clone(), ..Libraries::new(self.moved) };
        alone.of_file(place, linkage);
        alone.left_out().into_iter().next()
    }

    /// What files need and this machine lacks.
    pub fn left_out(&self) -> Vec<MissingLibrary> {
        self.missing.iter().filter(|missing| !self.provided.contains(&missing.library)).cloned().collect()
    }

    /// The libraries that have been found since the last time, each at the path where it will be looked for.
    pub fn take(&mut self) -> Result<Tree, ImageError> {
        let mut tree = Tree::default();
        let found = std::mem::take(&mut self.found);
        for (image, here) in &found {
            if image == here {
                tree.mirror(image)?;
            } else {
                tree.insert(image, Node::source(SourceFile::find(here)?));
            }
        }
        Ok(tree)
    }

    fn of_file(&mut self, place: Place, linkage: Rc<Linkage>) {
        if let (Some(loader), Some(architecture)) = (&linkage.loader, &linkage.architecture) {
            let path = PathBuf::from(loader);
            if self.linkage(&path).is_some_and(|it| it.architecture.as_ref() == Some(architecture)) {
                if let Some(list) = musl_list(&path) {
                    if list.is_file() {
                        self.found.insert(list.clone(), list);
                    }
                    self.musl.get_or_insert(path.clone());
                }
                self.found.insert(path.clone(), path);
            } else {
                self.missing
                    .insert(MissingLibrary { library: loader.clone(), needed_by: place.image.clone() });
            }
        }
        let mut names = HashSet::new();
        let mut loaded = VecDeque::from([Loaded { place, linkage, inherited: Vec::new() }]);
        while let Some(file) = loaded.pop_front() {
            if self.done.insert(file.place.image.clone()) {
                self.load(&file, &mut names, &mut loaded);
            }
        }
    }

    /// Finds the libraries that one file names.
    fn load(&mut self, file: &Loaded, names: &mut HashSet<String>, loaded: &mut VecDeque<Loaded>) {
        let linkage = &file.linkage;
        let Some(architecture) = linkage.architecture.clone() else { return };
        let places = |folders: &[String]| -> Vec<Place> {
            folders.iter().filter_map(|folder| folder_of(folder, &file.place)).collect()
        };
        let mut inherited = if linkage.runpath.is_some() { Vec::new() } else { places(&linkage.rpath) };
        inherited.extend(file.inherited.iter().cloned());
        let named = match &linkage.runpath {
            Some(runpath) => places(runpath),
            None => inherited.clone(),
        };
        let optional = if linkage.name.as_deref() == Some(GLIBC) { &OPENED_BY_GLIBC[..] } else { &[] };
        let needed = linkage.needed.iter().map(|name| (name.as_str(), true));
        for (name, is_needed) in needed.chain(optional.iter().map(|name| (*name, false))) {
            if !names.insert(name.to_owned()) || (self.musl.is_some() && is_musl(name)) {
                continue;
            }
            match self.find(name, &architecture, &named, linkage.is_without_defaults) {
                Some((place, linkage)) => {
                    self.provided.insert(name.to_owned());
                    names.extend(linkage.name.clone());
                    if !self.is_moved(&place) {
                        self.found.insert(place.image.clone(), place.here.clone());
                    }
                    loaded.push_back(Loaded { place, linkage, inherited: inherited.clone() });
                }
                None if is_needed => {
                    let needed_by = file.place.image.clone();
                    self.missing.insert(MissingLibrary { library: name.to_owned(), needed_by });
                }
                None => {}
            }
        }
    }

    fn find(
        &mut self,
        name: &str,
        architecture: &Arch,
        folders: &[Place],
        is_without_defaults: bool,
    ) -> Option<(Place, Rc<Linkage>)> {
        if name.contains('/') {
            let path = Path::new(name);
            return path
                .is_absolute()
                .then(|| self.loadable(Place::same(path.to_owned()), architecture))
                .flatten();
        }
        let named = folders
            .iter()
            .map(|folder| Place { here: folder.here.join(name), image: folder.image.join(name) });
        for place in named.collect::<Vec<Place>>() {
            if let Some(found) = self.loadable(place, architecture) {
                return Some(found);
            }
        }
        if is_without_defaults {
            return None;
        }
        let places = self.defaults.places(name, architecture, self.musl.as_deref());
        let found = places.into_iter().find_map(|path| self.loadable(Place::same(path), architecture))?;
        self.link_beside_glibc(name, &found.0, architecture);
        Some(found)
    }

    /// The image has no cache: a library that this machine has only through it gets a link in a folder where the loader looks.
    fn link_beside_glibc(&mut self, name: &str, place: &Place, architecture: &Arch) {
        if self.musl.is_some() || name == GLIBC {
            return;
        }
        let glibc = self.defaults.places(GLIBC, architecture, None);
        let glibc =
            glibc.into_iter().find(|path| self.loadable(Place::same(path.clone()), architecture).is_some());
        let folder = |path: &Path| path.parent().and_then(|folder| folder.canonicalize().ok());
        if let Some(glibc) = glibc.filter(|glibc| folder(glibc) != folder(&place.here)) {
            let image = glibc.with_file_name(name);
            if let Some(folder) = folder(&image).filter(|_| !image.exists()) {
                self.found.insert(folder.join(name), place.here.clone());
            }
        }
    }

    fn loadable(&mut self, place: Place, architecture: &Arch) -> Option<(Place, Rc<Linkage>)> {
        let linkage = self.linkage(&place.here)?;
        (linkage.architecture.as_ref() == Some(architecture)).then_some((place, linkage))
    }

    fn linkage(&mut self, path: &Path) -> Option<Rc<Linkage>> {
        if let Some(known) = self.read.get(path) {
            return known.clone();
        }
        // Anything but a file could make the reader wait.
        let linkage = path.is_file().then(|| Linkage::read(path)).flatten().map(Rc::new);
        self.read.insert(path.to_owned(), linkage.clone());
        linkage
    }

    /// Whether a file is in the image with the folder that it belongs to.
    fn is_moved(&self, place: &Place) -> bool {
        let real = place.here.canonicalize().unwrap_or_else(|_| place.here.clone());
        place.image != place.here && self.moved.iter().any(|moved| real.starts_with(&moved.from))
    }
}

fn is_musl(name: &str) -> bool {
    name == "libc.so" || name.starts_with("libc.musl-")
}

/// The folder that an entry of `DT_RPATH` or `DT_RUNPATH` means for this file; `None` for what only the loader knows (`$LIB`), and for a
/// folder relative to wherever the program is started.
fn folder_of(entry: &str, file: &Place) -> Option<Place> {
    let rest = entry.strip_prefix("$ORIGIN").or_else(|| entry.strip_prefix("${ORIGIN}"));
    let Some(rest) = rest else {
        let is_plain = entry.starts_with('/') && !entry.contains('$');
        return is_plain.then(|| Place::same(entry.into()));
    };
    if rest.contains('$') || !(rest.is_empty() || rest.starts_with('/')) {
        return None;
    }
    let below = |path: &Path| Some(path.parent()?.join(rest.trim_start_matches('/')));
    Some(Place { here: below(&file.here)?, image: without_dots(&below(&file.image)?)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_a_file_names_is_one_here_and_one_in_the_image() {
        let file = Place { here: "/home/me/site/bin/server".into(), image: "/app/bin/server".into() };
        let folder = |entry| folder_of(entry, &file).map(|place| (place.here, place.image));
        let both = |here: &str, image: &str| Some((PathBuf::from(here), PathBuf::from(image)));
        assert_eq!(folder("$ORIGIN"), both("/home/me/site/bin/", "/app/bin"));
        assert_eq!(folder("${ORIGIN}/../lib"), both("/home/me/site/bin/../lib", "/app/lib"));
        assert_eq!(folder("/opt/lib"), both("/opt/lib", "/opt/lib"));
        for entry in ["lib", "/usr/$LIB", "$ORIGIN/$LIB", "$ORIGINAL", "$ORIGIN/../../../lib"] {
            assert_eq!(folder(entry), None, "{entry}");
        }
    }
}
