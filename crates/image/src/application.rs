//! An image of a folder and the programs that run it: which layers it has, and what is started.
//!
//! The lowest layer has the libraries of the programs, then each program has one, and the folder has the highest: images with the same
//! programs share all but that.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use object::ReadCache;
use oci_spec::image::Arch;

use crate::elf::{UnsuitableProgram, examine};
use crate::error::{ImageError, MissingLibrary};
use crate::folder::{APP, Folder};
use crate::image::{Image, Start};
use crate::layer::{Layer, PASSWD, Part};
use crate::libraries::{Libraries, Moved};
use crate::linkage::Linkage;
use crate::name::ImageName;
use crate::runtime::Runtime;
use crate::sha256;
use crate::tree::{Node, Tree};

/// For what looks up its group.
const GROUP: &[u8] = b"loadline:x:1000:\n";

/// Without it, some versions of glibc ask DNS before they read `/etc/hosts` (nsswitch.conf(5)).
const NSSWITCH: &[u8] = b"passwd: files\ngroup: files\nhosts: files dns\n";

/// What runtimes mount over in every container.
const MOUNTED_OVER: [&str; 3] = ["/dev", "/proc", "/sys"];

/// The longest first line of a script that counts (linux, binfmts.h: `BINPRM_BUF_SIZE`).
const SCRIPT_LINE_BYTES: u64 = 256;

/// The program that a command starts.
struct Started {
    /// Its path in the image.
    program: PathBuf,
    /// What else it needs there: a script's interpreter, under the path that the script has for it.
    brings: Tree,
    architecture: Arch,
}

impl Image {
    /// An image with the files of a folder below `/app`, where its command is started, and with these programs of this machine, each
    /// at its own path and with its libraries. A program is given by path, or by name, which is looked for in the folders of `PATH`.
    /// The command's program is a file of the folder, or one of the programs.
    ///
    /// # Errors
    /// Any variant of [`ImageError`] but those of names and writing.
    pub fn of_folder(folder: &Path, with: &[PathBuf], command: &[String]) -> Result<Image, ImageError> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(ImageError::NoCommand(folder.to_owned()));
        };
        let folder = Folder::find(folder)?;
        let runtimes =
            with.iter().map(|given| Runtime::find(given)).collect::<Result<Vec<Runtime>, ImageError>>()?;
        check_places(&runtimes)?;
        let started = started(program, &folder, &runtimes)?;

        let moved: Vec<Moved> =
            runtimes.iter().filter_map(|it| it.moved.clone()).chain([folder.place.clone()]).collect();
        let (base, app, left_out) = with_libraries(&folder, &runtimes, &started, &moved)?;
        let trees: Vec<&Tree> =
            [&base].into_iter().chain(runtimes.iter().map(|it| &it.tree)).chain([&app]).collect();
        if let Some(path) = Tree::conflict(&trees) {
            return Err(ImageError::Conflict(path.to_owned()));
        }
        check_links(&folder, &runtimes)?;

        let start = Start {
            title: folder.name.clone(),
            program: started.program.display().to_string(),
            path: search_path(&runtimes),
            folder: Some(APP.to_owned()),
        };
        let origins: Vec<PathBuf> = [folder.place.from.clone()]
            .into_iter()
            .chain(runtimes.iter().map(|it| it.here.clone()))
            .collect();
        let parts = parts(folder, runtimes, base, app);
        let digest = digest(&parts, &start.program, arguments)?;
        let name = ImageName::default_for(&digest[..12], &start.title);
        Ok(Image {
            name,
            command: arguments.to_vec(),
            version: None,
            created: Timestamp::UNIX_EPOCH,
            tag: digest[..12].to_owned(),
            binary: None,
            architecture: started.architecture,
            start,
            parts,
            origins,
            left_out,
        })
    }
}

/// Programs that would hide each other, or be hidden by what a container runtime mounts.
fn check_places(runtimes: &[Runtime]) -> Result<(), ImageError> {
    for (index, runtime) in runtimes.iter().enumerate() {
        if let Some(mounted) = MOUNTED_OVER.iter().find(|mounted| runtime.program.starts_with(mounted)) {
            return Err(ImageError::MountedOver { program: runtime.program.clone(), folder: mounted });
        }
        if runtimes[..index].iter().any(|other| other.names.first() == runtime.names.first()) {
            return Err(ImageError::GivenTwice(runtime.names.first().cloned().unwrap_or_default()));
        }
    }
    Ok(())
}

/// The libraries of all files: the lowest layer, with those of the programs, and the highest, with the folder and what only that needs.
fn with_libraries(
    folder: &Folder,
    runtimes: &[Runtime],
    started: &Started,
    moved: &[Moved],
) -> Result<(Tree, Tree, Vec<MissingLibrary>), ImageError> {
    let of_runtimes: Vec<&Tree> = runtimes.iter().map(|it| &it.tree).collect();
    let mut libraries = Libraries::new(moved);
    for tree in &of_runtimes {
        libraries.of_tree(tree, &started.architecture);
    }
    let mut base = Tree::default();
    for (path, text) in [("/etc/passwd", PASSWD), ("/etc/group", GROUP), ("/etc/nsswitch.conf", NSSWITCH)] {
        base.insert(Path::new(path), Node::text(text));
    }
    base.insert(Path::new("/tmp"), Node::folder(Path::new("/tmp")));
    base.add_without(libraries.take()?, &of_runtimes);

    libraries.of_tree(&folder.tree, &started.architecture);
    let lower: Vec<&Tree> = of_runtimes.into_iter().chain([&base]).collect();
    let mut app = folder.tree.clone();
    app.add_without(libraries.take()?, &lower);
    app.add_without(started.brings.clone(), &lower);

    // Of a module nobody knows whether it is ever loaded; what is started must find its libraries.
    let own = started
        .program
        .strip_prefix(APP)
        .ok()
        .and_then(|own| folder.place.from.join(own).canonicalize().ok());
    let own =
        own.and_then(|here| Some((folder.place.to.join(here.strip_prefix(&folder.place.from).ok()?), here)));
    let programs = runtimes.iter().map(|it| (it.program.clone(), it.here.clone()));
    for (image, here) in programs.chain(own) {
        if let Some(missing) = libraries.missing_of(&image, &here) {
            return Err(ImageError::MissingLibrary(missing));
        }
    }
    let left_out = libraries.left_out();
    Ok((base, app, left_out))
}

/// Links of the folder that leave it may lead to files of the programs, which the image has at the same paths.
fn check_links(folder: &Folder, runtimes: &[Runtime]) -> Result<(), ImageError> {
    for outside in &folder.links_outside {
        if !runtimes.iter().any(|runtime| runtime.moved.is_none() && runtime.tree.contains(&outside.target)) {
            return Err(outside.refused());
        }
    }
    Ok(())
}

/// The folders of the programs; the folder's own if there is none.
fn search_path(runtimes: &[Runtime]) -> String {
    let mut folders: Vec<String> = Vec::new();
    for folder in runtimes.iter().filter_map(|it| it.program.parent()) {
        let folder = folder.display().to_string();
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    if folders.is_empty() { APP.to_owned() } else { folders.join(":") }
}

fn parts(folder: Folder, runtimes: Vec<Runtime>, base: Tree, app: Tree) -> Vec<Part> {
    let part = |title: String, origin: PathBuf, tree: Tree| Part {
        created_by: format!("loadline image: {title}"),
        title,
        origin,
        nodes: tree.into_nodes(),
    };
    let mut parts = vec![part("libraries".to_owned(), folder.place.from.clone(), base)];
    for runtime in runtimes {
        let title = runtime.names.into_iter().next().unwrap_or_default();
        parts.push(part(title, runtime.here, runtime.tree));
    }
    parts.push(part(format!("folder {}", folder.name), folder.place.from, app));
    parts
}

/// What tells this image from others: all bytes, and what is started; not when it is made.
fn digest(parts: &[Part], program: &str, arguments: &[String]) -> Result<String, ImageError> {
    let mut text = program.to_owned();
    for argument in arguments {
        text.push('\0');
        text.push_str(argument);
    }
    for part in parts {
        text.push('\n');
        text.push_str(Layer::of(part, 0)?.digest.digest());
    }
    Ok(sha256::of(text.as_bytes()).digest().to_owned())
}

fn started(command: &str, folder: &Folder, runtimes: &[Runtime]) -> Result<Started, ImageError> {
    let is_of = |runtime: &Runtime| {
        runtime.names.iter().any(|name| name == command)
            || runtime.given == Path::new(command)
            || runtime.program == Path::new(command)
            || (command.starts_with('/') && runtime.tree.contains(Path::new(command)))
    };
    if let Some(runtime) = runtimes.iter().find(|runtime| is_of(runtime)) {
        let is_other = command.starts_with('/') && runtime.tree.contains(Path::new(command));
        let program = if is_other { PathBuf::from(command) } else { runtime.program.clone() };
        return Ok(Started { program, brings: Tree::default(), architecture: architecture(runtime)? });
    }
    let not_there =
        || ImageError::NoSuchProgram { program: command.to_owned(), folder: folder.shown.clone() };
    let below = match command.strip_prefix('/') {
        None => Path::new(command),
        Some(_) => Path::new(command).strip_prefix(APP).map_err(|_| not_there())?,
    };
    let below = crate::tree::without_dots(below).ok_or_else(not_there)?;
    let (program, here, shown) =
        (Path::new(APP).join(&below), folder.place.from.join(&below), folder.shown.join(&below));
    if !here.is_file() || !folder.tree.contains(&program) {
        return Err(not_there());
    }
    let file = File::open(&here).map_err(ImageError::unreadable(&shown))?;
    let unsuitable = |why| ImageError::UnsuitableProgram { path: shown.clone(), why };
    let (brings, architecture) = match examine(&ReadCache::new(&file)) {
        Ok(architecture) => (Tree::default(), architecture),
        Err(why @ UnsuitableProgram::Dynamic { .. }) => {
            let architecture = Linkage::read(&here).and_then(|linkage| linkage.architecture);
            (Tree::default(), architecture.ok_or_else(|| unsuitable(why))?)
        }
        Err(UnsuitableProgram::Script) => interpreted(&here, &shown, runtimes)?,
        Err(why) => return Err(unsuitable(why)),
    };
    let is_executable = crate::source::SourceFile::find(&here)?.is_executable();
    if !is_executable {
        return Err(ImageError::NotExecutable(shown));
    }
    Ok(Started { program, brings, architecture })
}

/// The interpreter of a script, which must be one of the programs: the way to it as the script has it, and its processor.
fn interpreted(script: &Path, shown: &Path, runtimes: &[Runtime]) -> Result<(Tree, Arch), ImageError> {
    let file = File::open(script).map_err(ImageError::unreadable(shown))?;
    let mut line = Vec::new();
    let mut start = BufReader::new(file.take(SCRIPT_LINE_BYTES));
    start.read_until(b'\n', &mut line).map_err(ImageError::unreadable(shown))?;
    let line = String::from_utf8_lossy(&line);
    let mut words = line.trim_start_matches("#!").split_whitespace();
    let interpreter = words.next().unwrap_or_default();
    let missing = |program: &str| ImageError::NoInterpreter {
        script: shown.to_owned(),
        interpreter: program.to_owned(),
    };
    let mut way = Tree::default();
    let real = Path::new(interpreter).is_file().then(|| way.mirror(Path::new(interpreter))).transpose()?;
    let real = real.ok_or_else(|| missing(interpreter))?;
    let runtime =
        runtimes.iter().find(|runtime| runtime.tree.contains(&real)).ok_or_else(|| missing(interpreter))?;
    // `env` looks for the one that is meant.
    if interpreter.ends_with("/env") {
        let meant = words.find(|word| !word.starts_with('-') && !word.contains('=')).unwrap_or_default();
        let is_there = runtimes.iter().any(|runtime| runtime.names.iter().any(|name| name == meant));
        if !is_there {
            return Err(missing(meant));
        }
    }
    Ok((way, architecture(runtime)?))
}

fn architecture(runtime: &Runtime) -> Result<Arch, ImageError> {
    let architecture = Linkage::read(&runtime.here).and_then(|linkage| linkage.architecture);
    architecture.ok_or_else(|| ImageError::NotAFile(runtime.here.clone()))
}
