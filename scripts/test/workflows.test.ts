import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";

const root = resolve(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

type Step = { readonly uses?: string; readonly run?: string };
type Job = { readonly container?: unknown; readonly services?: unknown; readonly steps: readonly Step[] };

const workflows = readdirSync(join(root, ".github/workflows")).map((name) => {
  const { permissions, jobs } = parse(read(`.github/workflows/${name}`)) as {
    readonly permissions: object;
    readonly jobs: Readonly<Record<string, Job>>;
  };
  return { name, permissions, jobs: Object.values(jobs) };
});

describe("the workflows", () => {
  const steps = workflows.flatMap(({ jobs }) => jobs.flatMap((job) => job.steps));

  it("each action is pinned by the hash of a commit", () => {
    const actions = steps.flatMap(({ uses }) => uses ?? []);
    expect(actions).to.have.length.above(5);
    for (const action of actions) expect(action).to.match(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
  });

  it("no workflow has rights by default, or names an image", () => {
    for (const { name, permissions, jobs } of workflows) {
      expect(permissions, name).to.deep.equal({ contents: "read" });
      for (const { container, services } of jobs)
        expect([container, services], name).to.deep.equal([undefined, undefined]);
    }
  });

  it("every target of make and every script that a workflow runs exists", () => {
    const text = steps.flatMap(({ run }) => run ?? []).join("\n");
    const targets = [...text.matchAll(/(?:make|in-container) ([a-z0-9-]+)/g)].map(([, target]) => target);
    expect(targets).to.include.members(["test", "e2e", "release", "release-check", "docs"]);
    for (const target of targets) expect(read("Makefile")).to.match(new RegExp(`^${target}:`, "m"));
    for (const [script] of text.matchAll(/scripts\/[\w./-]+/g))
      expect(existsSync(join(root, script)), script).to.equal(true);
  });

  it("Dependabot reads folders that have what it updates", () => {
    const { updates } = parse(read(".github/dependabot.yml")) as {
      readonly updates: readonly {
        readonly "package-ecosystem": string;
        readonly directory?: string;
        readonly directories?: readonly string[];
      }[];
    };
    const manifests: Readonly<Record<string, string>> = {
      npm: "package-lock.json",
      "github-actions": ".github/workflows",
      docker: "Dockerfile",
      gomod: "go.mod",
    };
    const foldersOf = (directory: string): readonly string[] =>
      directory.endsWith("/*")
        ? readdirSync(join(root, directory.slice(0, -1))).map((name) => directory.slice(0, -1) + name)
        : [directory];
    for (const { "package-ecosystem": ecosystem, directory, directories } of updates) {
      const folders = [directory ?? [], directories ?? []].flat().flatMap(foldersOf);
      expect(folders, ecosystem).to.have.length.above(0);
      for (const folder of folders) {
        const manifest = join(folder, manifests[ecosystem] ?? "unknown");
        expect(existsSync(join(root, manifest)), manifest).to.equal(true);
      }
    }
  });

  it("a release is built in the image that the Dockerfile names by digest", () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-gateway-workflows-test-"));
    try {
      writeFileSync(join(folder, "docker"), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
      chmodSync(join(folder, "docker"), 0o755);
      const printed = execFileSync(join(root, "scripts/release/in-container"), ["release"], {
        cwd: folder,
        env: { PATH: [folder, process.env["PATH"]].join(delimiter) },
        encoding: "utf8",
      }).split("\n");
      expect(printed.slice(0, 10)).to.deep.equal([
        ...["run", "--rm", "--volume", `${root}:/src`, "--workdir", "/src"],
        ...["--env", "VERSION", "--env", "BUILDER_ID"],
      ]);
      expect(printed[10]).to.match(/^node:24-\S+@sha256:[0-9a-f]{64}$/);
      expect(read("Dockerfile")).to.include(`\nFROM ${printed[10]} AS build\n`);
      expect(printed.slice(-3)).to.deep.equal(["sh", "release", ""]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
