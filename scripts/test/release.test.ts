import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { parse } from "yaml";
import { bundleProgram } from "../bundle/bundle.ts";
import { takenOver } from "../licences/taken-over.ts";
import { yaml } from "./shipped-package.ts";
import { readBasePackages } from "../release/base/debian.ts";
import { packChart, writeChartIndex } from "../release/chart.ts";
import { sha256Of, writeChecksums } from "../release/checksums.ts";
import { packNpm } from "../release/npm-package.ts";
import { provenanceOf } from "../release/provenance.ts";
import { problemOfSbom, sbomOf } from "../release/sbom.ts";
import { signRelease } from "../release/sign.ts";
import { parseVersion, type ReleaseSource } from "../release/source.ts";

const source: ReleaseSource = {
  version: "9.8.7-rc.1",
  commit: "0123456789abcdef0123456789abcdef01234567",
  epochSeconds: 1_700_000_000,
  isClean: true,
};

describe("a release", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "svc-gateway-release-test-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const empty = (name: string): string => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };

  it("the version is a semantic version without a leading v", () => {
    for (const version of ["0.1.0", "1.2.3", "10.20.30-rc.1"]) {
      expect(parseVersion(version)).to.deep.equal({ ok: true, value: version });
    }
    for (const version of [undefined, "", "v1.2.3", "1.2", "01.2.3", "1.2.3+build", "1.2.3 ", "../1.2.3"]) {
      const parsed = parseVersion(version);
      expect(parsed.ok ? parsed.value : parsed.error.message).to.match(/^VERSION .*expected/);
    }
  });

  it("the program of a release reports its version", async () => {
    const { outputFiles } = await bundleProgram(source.version);
    expect(outputFiles.filter(({ text }) => text.includes(`"${source.version}"`))).to.have.length(1);
  });

  it("the npm package has the program with its version and no dependencies, and the same bytes each time", () => {
    const app = empty("app");
    writeFileSync(join(app, "main.mjs"), 'console.log("ran");\n');
    for (const name of ["a", "b"]) packNpm(join(folder, `${name}.tgz`), app, empty(name), source);
    const archive = readFileSync(join(folder, "a.tgz"));
    expect(sha256Of(archive)).to.equal(sha256Of(readFileSync(join(folder, "b.tgz"))));
    execFileSync("tar", ["-xzf", join(folder, "a.tgz"), "-C", empty("unpacked")]);
    const unpacked = join(folder, "unpacked/package");
    const manifest = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8")) as Record<
      string,
      unknown
    >;
    expect(manifest).to.include({ name: "svc-gateway", version: source.version, license: "Apache-2.0" });
    expect(manifest).not.to.have.property("dependencies");
    expect(execFileSync(join(unpacked, "svc-gateway.mjs"), { encoding: "utf8" })).to.equal("ran\n");
  });

  it("the chart has the version of the release, in its package and in the index, and the same bytes each time", () => {
    for (const name of ["a", "b"]) packChart(join(folder, `${name}.tgz`), empty(name), source);
    const archive = readFileSync(join(folder, "a.tgz"));
    expect(sha256Of(archive)).to.equal(sha256Of(readFileSync(join(folder, "b.tgz"))));
    execFileSync("tar", ["-xzf", join(folder, "a.tgz"), "-C", empty("unpacked")]);
    const chart = parse(readFileSync(join(folder, "unpacked/svc-gateway/Chart.yaml"), "utf8")) as object;
    expect(chart).to.include({ name: "svc-gateway", version: source.version, appVersion: source.version });
    writeChartIndex(join(folder, "index.yaml"), join(folder, "a.tgz"), source);
    const index = parse(readFileSync(join(folder, "index.yaml"), "utf8")) as {
      readonly entries: Readonly<Record<string, readonly object[]>>;
    };
    expect(index.entries["svc-gateway"]?.[0]).to.deep.include({
      version: source.version,
      digest: sha256Of(archive),
      urls: ["a.tgz"],
    });
  });

  it("an image has the architecture, time and labels that it is made with, and compressed layers", () => {
    const tree = empty("tree");
    writeFileSync(join(tree, "file"), "content");
    const make = (name: string): Record<string, Buffer> => {
      const layout = join(folder, name);
      execFileSync(process.execPath, [
        resolve(import.meta.dirname, "../image/mkimage.ts"),
        ...["--out", layout, "--tag", "x:1", "--tree", tree, "--architecture", "arm64"],
        ...["--created", String(source.epochSeconds), "--gzip", "--label", "a=b"],
      ]);
      const blob = (digest: string): Buffer => readFileSync(join(layout, "blobs", digest.replace(":", "/")));
      const { manifests } = JSON.parse(readFileSync(join(layout, "index.json"), "utf8")) as {
        readonly manifests: readonly { readonly digest: string }[];
      };
      const manifest = blob(manifests[0]?.digest ?? "");
      const { config, layers } = JSON.parse(manifest.toString()) as {
        readonly config: { readonly digest: string };
        readonly layers: readonly { readonly digest: string; readonly mediaType: string }[];
      };
      expect(layers.map(({ mediaType }) => mediaType)).to.deep.equal([
        "application/vnd.oci.image.layer.v1.tar+gzip",
      ]);
      return { manifest, config: blob(config.digest), layer: gunzipSync(blob(layers[0]?.digest ?? "")) };
    };
    const first = make("first");
    expect(make("second")).to.deep.equal(first);
    const config = JSON.parse(first["config"]?.toString() ?? "") as {
      readonly config: object;
      readonly rootfs: { readonly diff_ids: readonly string[] };
    };
    expect(config).to.include({ architecture: "arm64", os: "linux", created: "2023-11-14T22:13:20Z" });
    expect(config.config).to.deep.include({ Labels: { a: "b" } });
    expect(config.rootfs.diff_ids).to.deep.equal([`sha256:${sha256Of(first["layer"] ?? Buffer.of())}`]);
  });

  it("every base package is pinned by version and digest for both architectures, and has a licence", () => {
    const { packages } = readBasePackages();
    expect(packages.map(({ name }) => name)).to.include.members(["libc6", "libstdc++6", "ca-certificates"]);
    for (const { name, version, licence, sha256 } of packages) {
      expect(version, name).to.match(/^\d/);
      expect(licence, name).to.match(/^[A-Z]/);
      expect(sha256, name).to.have.all.keys("amd64", "arm64");
      for (const digest of Object.values(sha256)) expect(digest, name).to.match(/^[0-9a-f]{64}$/);
    }
  });

  it("the bill of materials lists packages by URL, licence and digest, and is valid", async () => {
    const base = { architecture: "arm64", packages: readBasePackages() } as const;
    const contents = { subject: "container", npm: [yaml], takenOver: [], base } as const;
    const text = await sbomOf(contents, source);
    expect(await sbomOf(contents, source)).to.equal(text);
    const { components, metadata } = JSON.parse(text) as {
      readonly components: readonly { readonly purl: string }[];
      readonly metadata: { readonly timestamp: string; readonly component: object };
    };
    expect(metadata.timestamp).to.equal("2023-11-14T22:13:20.000Z");
    expect(metadata.component).to.include({ type: "container", version: source.version });
    expect(components).to.have.length(1 + base.packages.packages.length);
    expect(components.find(({ purl }) => purl.startsWith("pkg:npm"))).to.deep.include({
      name: "yaml",
      group: "@scope",
      purl: "pkg:npm/%40scope/yaml@2.9.1",
      licenses: [{ license: { id: "ISC" } }],
      hashes: [{ alg: "SHA-512", content: "01".repeat(64) }],
    });
    expect(components.map(({ purl }) => purl)).to.include(
      components.find(({ purl }) => purl.startsWith("pkg:deb/debian/libc6@"))?.purl,
    );
  });

  it("the bill of materials lists sources of others that are compiled in, with their digest and origin", async () => {
    const text = await sbomOf({ subject: "application", npm: [], takenOver }, source);
    const proto = readFileSync(resolve(import.meta.dirname, "../../proto/ext-authz.proto"));
    expect((JSON.parse(text) as { readonly components: readonly object[] }).components).to.deep.equal([
      {
        type: "file",
        name: "proto/ext-authz.proto",
        "bom-ref": "proto/ext-authz.proto",
        description: "ext-authz.proto, from the API of Envoy and from googleapis",
        hashes: [{ alg: "SHA-256", content: sha256Of(proto) }],
        licenses: [{ license: { id: "Apache-2.0" } }],
        externalReferences: [
          { url: "https://github.com/envoyproxy/envoy", type: "vcs" },
          { url: "https://github.com/googleapis/googleapis", type: "vcs" },
        ],
      },
    ]);
  });

  it("a bill of materials that does not conform to the schema is recognized", async () => {
    const document = {
      bomFormat: "CycloneDX",
      specVersion: "1.6",
      components: [{ name: "x", type: "library" }],
    };
    expect(await problemOfSbom(JSON.stringify(document))).to.equal(undefined);
    expect(await problemOfSbom(JSON.stringify({ ...document, components: [{ name: "x" }] }))).to.include(
      "type",
    );
  });

  it("the provenance names each file, the commit and everything that is downloaded, by digest", () => {
    const base = readBasePackages();
    const text = provenanceOf({
      source,
      files: new Map([["f", "aa"]]),
      base,
      builder: "https://ci.invalid/1",
    });
    const { subject, predicateType, predicate } = JSON.parse(text) as {
      readonly subject: object;
      readonly predicateType: string;
      readonly predicate: {
        readonly buildDefinition: { readonly resolvedDependencies: readonly { readonly name: string }[] };
        readonly runDetails: object;
      };
    };
    expect(subject).to.deep.equal([{ name: "f", digest: { sha256: "aa" } }]);
    expect(predicateType).to.equal("https://slsa.dev/provenance/v1");
    const dependencies = predicate.buildDefinition.resolvedDependencies;
    expect(dependencies[0]).to.deep.equal({ name: "source", digest: { gitCommit: source.commit } });
    expect(dependencies).to.have.length(2 + 2 * base.packages.length);
    expect(predicate.runDetails).to.deep.equal({ builder: { id: "https://ci.invalid/1" } });
  });

  it("the checksums of a release are those that sha256sum verifies", () => {
    writeFileSync(join(folder, "f"), "content");
    writeChecksums(folder);
    expect(readFileSync(join(folder, "SHA256SUMS"), "utf8")).to.equal(
      `${sha256Of(Buffer.from("content"))}  f\n`,
    );
  });

  it("a release is signed by cosign where there is a key, and a sentence says why it is not", () => {
    expect(signRelease(folder, {})).to.equal(
      "not signed: COSIGN_KEY names no key, and COSIGN_KEYLESS is not 1",
    );
    expect(signRelease(folder, { COSIGN_KEY: "k", PATH: folder })).to.equal(
      "not signed: there is no cosign in PATH",
    );
    const bin = empty("bin");
    const log = join(folder, "log");
    const cosign = (status: number): NodeJS.ProcessEnv => {
      writeFileSync(
        join(bin, "cosign"),
        `#!/bin/sh\n[ "$1" = version ] || { echo "$@" >>'${log}'; exit ${status}; }\n`,
      );
      chmodSync(join(bin, "cosign"), 0o755);
      return { PATH: [bin, process.env["PATH"]].join(delimiter) };
    };
    expect(signRelease(folder, { ...cosign(0), COSIGN_KEY: "k" })).to.equal(
      "signed: SHA256SUMS.sigstore.json",
    );
    expect(signRelease(folder, { ...cosign(0), COSIGN_KEYLESS: "1" })).to.equal(
      "signed: SHA256SUMS.sigstore.json",
    );
    expect(signRelease(folder, { ...cosign(1), COSIGN_KEY: "k" })).to.equal(undefined);
    const withoutLog = { ...cosign(0), COSIGN_KEY: "k", COSIGN_SIGNING_CONFIG: "none.json" };
    expect(signRelease(folder, withoutLog)).to.equal("signed: SHA256SUMS.sigstore.json");
    const sums = join(folder, "SHA256SUMS");
    const command = `sign-blob --yes --bundle ${sums}.sigstore.json`;
    expect(readFileSync(log, "utf8").trim().split("\n")).to.deep.equal([
      `${command} --key k ${sums}`,
      `${command} ${sums}`,
      `${command} --key k ${sums}`,
      `${command} --key k --signing-config none.json ${sums}`,
    ]);
  });
});
