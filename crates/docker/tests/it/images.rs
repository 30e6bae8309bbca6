//! Images are pulled, loaded or made, and those that a run added are removed with it.

use super::*;

#[test]
fn an_image_that_two_runs_use_is_removed_with_the_last_of_them() {
    let stand = Stand::docker();
    let before = stand.engine.inventory();
    let (one, two) = (stand.environment(), stand.environment());
    let first = deploy(&Docker::default(), &one, &who_called());
    let second = deploy(&Docker::default(), &two, &who_called());
    first.stop().unwrap();
    one.remove().unwrap();
    caller_seen(&two, second.address());
    second.stop().unwrap();
    two.remove().unwrap();
    assert_eq!(stand.engine.inventory(), before);
}

#[test]
fn an_archive_is_loaded_for_the_run_unless_its_image_is_there() {
    let stand = Stand::docker();
    let before = stand.engine.inventory();
    let archive = archive(&stand.node, "localhost/orders:1.0");
    let service = Service { image: image(ImageSource::Archive(archive.clone())), ..who_called() };
    let environment = stand.environment();
    let deployment = deploy(&Docker::default(), &environment, &service);
    caller_seen(&environment, deployment.address());
    drop((deployment, environment));
    assert_eq!(stand.engine.inventory(), before);

    // An image that was present before stays.
    stand.engine.cli(&["load", "--input", archive.to_str().unwrap()]);
    let with_image = stand.engine.inventory();
    let environment = stand.environment();
    deploy(&Docker::default(), &environment, &service).stop().unwrap();
    environment.remove().unwrap();
    assert_eq!(stand.engine.inventory(), with_image);
}

#[test]
fn an_archive_never_takes_the_name_of_another_image() {
    let stand = Stand::docker();
    let archive = archive(&stand.node, "localhost/orders:1.0");
    let empty = stand.node.dir.path().join("empty.tar");
    tar::Builder::new(File::create(&empty).unwrap()).into_inner().unwrap();
    stand.engine.cli(&["import", empty.to_str().unwrap(), "localhost/orders:1.0"]);
    let with_image = stand.engine.inventory();
    let environment = stand.environment();
    let service = Service { image: image(ImageSource::Archive(archive)), ..who_called() };
    let error = refusal(&Docker::default(), &environment, &service);
    assert!(
        error.contains(
            "contains an image `localhost/orders:1.0`, but Docker has a different one of that name"
        ),
        "{error}"
    );
    environment.remove().unwrap();
    assert_eq!(stand.engine.inventory(), with_image);
}

#[test]
fn an_image_is_pulled_by_name_and_stays() {
    let stand = Stand::docker();
    let registry = image_registry::serve(&archive(&stand.node, "localhost/orders:1.0"));
    let environment = stand.environment();
    let name = format!("{registry}/orders:1.0");
    let service = Service { image: image(ImageSource::Name(name.clone())), ..who_called() };
    let mut told = Vec::new();
    let deployment = environment
        .platform(&Docker::default())
        .deploy(&environment, &service, &mut |text| told.push(text.to_owned()))
        .unwrap();
    caller_seen(&environment, deployment.address());
    assert_eq!(told[0], format!("pulling {name}"));
    deployment.stop().unwrap();
    environment.remove().unwrap();
    assert!(stand.engine.cli(&["image", "ls", "--format", "{{.Repository}}:{{.Tag}}"]).contains(&name));
}

#[test]
fn an_image_that_does_not_exist_is_reported_with_ways_to_get_it() {
    let stand = Stand::docker();
    let registry = image_registry::serve(&archive(&stand.node, "localhost/orders:1.0"));
    let environment = stand.environment();
    let name = format!("{registry}/no-such-service:1.0");
    let service = Service { image: image(ImageSource::Name(name.clone())), ..who_called() };
    let error = refusal(&Docker::default(), &environment, &service);
    assert!(error.starts_with(&format!("cannot pull the image `{name}`, which is not present: ")), "{error}");
    assert!(
        error.contains(&format!("`docker pull {name}`")) && error.contains("`loadline image`"),
        "{error}"
    );
}

fn image(source: ImageSource) -> Option<Image> {
    Some(Image { source, entrypoint: None })
}

/// An archive of the test helper under `name`.
fn archive(node: &Node, name: &str) -> PathBuf {
    let program = loadline_image::Program::open(Path::new(loadline_test_support::helper())).unwrap();
    let mut image = loadline_image::Image::new(program, "orders").unwrap();
    image.name = loadline_image::ImageName::parse(name, image.tag()).unwrap();
    let path = node.dir.path().join("orders.tar");
    image.archive().unwrap().write(File::create(&path).unwrap()).unwrap();
    path
}
