import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { commands } from "../../src/command-line.ts";
import { runInside } from "../support.ts";

const isInstalled = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;

/** The words of a command line, the last of which is completed, and the completions that are offered. */
type Case = readonly [words: readonly string[], offered: readonly string[]];

const common: readonly Case[] = [
  [
    ["serve", ""],
    ["standalone", "controller", "proxy"],
  ],
  [["serve", "st"], ["standalone"]],
  [
    ["completion", ""],
    ["bash", "zsh", "fish"],
  ],
  [["check", "--out"], ["--output"]],
  [
    ["check", "--output", ""],
    ["text", "json", "yaml"],
  ],
  [["report", "--output", "m"], ["markdown"]],
  [["check", "-o", "y"], ["yaml"]],
  [["serve", "proxy", "--log-format", "j"], ["json"]],
  [["serve", "proxy", "--access-log-p"], ["--access-log-path-mode"]],
  [["status", "--kubeconfig", "conf"], ["config-of-a"]],
  [["check", "conf"], ["config-of-a"]],
  [["status", "--context", ""], []],
];

describe("completion", () => {
  let folder: string;
  const scripts = new Map<string, string>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-gateway-completion-"));
    await writeFile(join(folder, "config-of-a"), "");
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, out, err } = await runInside(["completion", shell]);
      expect({ code, err }).to.deep.equal({ code: 0, err: "" });
      scripts.set(shell, join(folder, `.${shell}`));
      await writeFile(join(folder, `.${shell}`), out);
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const run = (shell: string, program: string, args: readonly string[]): readonly string[] =>
    execFileSync(shell, ["-c", `source "$SCRIPT" 2>/dev/null; ${program}`, ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, SCRIPT: scripts.get(shell) ?? "" },
      encoding: "utf8",
    })
      .split("\n")
      .filter((line) => line !== "");

  const inBash = (words: readonly string[]): readonly string[] =>
    run("bash", 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc_gateway; printf "%s\\n" "${COMPREPLY[@]}"', [
      "bash",
      "svc-gateway",
      ...words,
    ]);

  it("bash completes commands, flags, values and files", () => {
    for (const [words, offered] of common) expect(inBash(words), words.join(" ")).to.deep.equal(offered);
    const firsts = [...new Set(commands.map(({ name }) => name.split(" ")[0]))];
    expect(inBash([""])).to.deep.equal(firsts);
  });

  it("bash completes a value after an equals sign, of which it makes a word", () => {
    expect(inBash(["check", "--output", "=", "j"])).to.deep.equal(["json"]);
    expect(inBash(["check", "--output", "="])).to.deep.equal(["text", "json", "yaml"]);
    expect(inBash(["check", "--live", "=", ""])).to.deep.equal(["true", "false"]);
    expect(inBash(["check", "--live", "conf"])).to.deep.equal(["config-of-a"]);
  });

  it("bash offers every flag that a command declares", async () => {
    for (const { name, load } of commands) {
      const { flags } = await load();
      const declared = [...flags.map((flag) => `--${flag.name}`), "--help"];
      const offered = inBash([...name.split(" "), "--"]);
      expect([...offered].sort(), name).to.deep.equal([...declared].sort());
    }
  });

  it("fish completes commands, flags, values and files", function () {
    if (!isInstalled("fish")) this.skip();
    for (const [words, offered] of common) {
      const line = ["svc-gateway", ...words].join(" ");
      const found = run("fish", 'complete -C "$argv[1]"', [line]).map((one) => one.split("\t")[0]);
      expect(found, line).to.have.members(offered);
    }
  });

  it("zsh is given the flags and values of the command on the line", function () {
    if (!isInstalled("zsh")) this.skip();
    const given = (...words: readonly string[]): string =>
      run(
        "zsh",
        'compdef() { :; }; _arguments() { print -rl -- "$@"; }; _describe() { print -rl -- "${(@P)2}"; }; words=("$@"); CURRENT=$#; _svc_gateway',
        ["zsh", "svc-gateway", ...words],
      ).join("\n");
    expect(given("")).to.include("check:Report whether manifests are served as written.");
    expect(given("serve", "")).to.match(/^standalone:.*\ncontroller:.*\nproxy:/);
    const check = given("check", "");
    expect(check).to.include("*--output=[Output format.]:value:(text json yaml)");
    expect(check).to.include("*-o[Output format.]:value:(text json yaml)");
    expect(check).to.include("*--kubeconfig=[Kubeconfig file of the cluster.]:value:_files");
    expect(check).to.match(/\*:word:_files$/);
    expect(given("serve", "proxy", "")).to.include("*--discovery-endpoint=[");
  });

  it("zsh registers the script with its own completion system", function () {
    if (!isInstalled("zsh")) this.skip();
    const registered = execFileSync(
      "zsh",
      ["-fc", 'autoload -U compinit; compinit -u -D; source "$SCRIPT"; print -r -- $_comps[svc-gateway]'],
      {
        env: { PATH: process.env["PATH"] ?? "", HOME: folder, SCRIPT: scripts.get("zsh") ?? "" },
        encoding: "utf8",
      },
    );
    expect(registered).to.equal("_svc_gateway\n");
  });
});
