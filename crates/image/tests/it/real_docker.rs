//! Docker Engine loads the archive and runs it.

use crate::runtimes::docker::Docker;
use crate::runtimes::run;
use crate::service::{archive, assert_served};

#[test]
fn docker_loads_the_archive_and_runs_it_as_user_1000() {
    let docker = Docker::start();
    let archived = archive(docker.folder.path());
    let path = archived.path.display().to_string();

    let said = docker.run(&["load", "--input", &path]);
    assert_eq!(said, format!("Loaded image: {}", archived.name));
    let inspect = |template: &str| docker.run(&["image", "inspect", "--format", template, &archived.name]);
    assert_eq!(inspect("{{.Id}}"), archived.id);
    assert_eq!(inspect("{{.Os}}/{{.Architecture}} {{.Config.User}}"), "linux/amd64 1000:1000");
    assert_eq!(
        inspect("{{json .Config.ExposedPorts}} {{json .Config.Env}}"),
        r#"{"8080/tcp":{}} ["PATH=/"]"#
    );
    assert_eq!(inspect("{{json .Config.Entrypoint}}"), r#"["/service"]"#);
    let digest = inspect(r#"{{index .Config.Labels "loadline.binary.sha256"}}"#);
    assert!(archived.name.ends_with(&format!(":{}", &digest[..12])), "{digest} {}", archived.name);
    assert_eq!(docker.run(&["history", "--quiet", "--no-trunc", &archived.name]), archived.id);

    docker.contained(&[&archived.name], |it| assert_served(it, "127.0.0.1:8080 as told by the image"));
    let hardened = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges"];
    let told = [&archived.name, "127.0.0.1:8080", "as", "told", "by", "hand"];
    docker.contained(&[&hardened[..], &told].concat(), |it| {
        assert_served(it, "127.0.0.1:8080 as told by hand")
    });

    // Once more, as from a pipe: the same image, not another.
    let file = std::fs::File::open(&archived.path).expect("a file");
    run(docker.command(&["load"]).stdin(file));
    assert_eq!(docker.run(&["images", "--quiet", "--no-trunc"]), archived.id);
}
