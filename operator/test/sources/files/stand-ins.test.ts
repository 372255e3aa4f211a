import { expect } from "chai";
import { isStandIn, targetsOfStandIn } from "../../../src/api/stand-in.ts";
import type { FolderState } from "../../../src/sources/files/folder-state.ts";
import { createTestFolder, type TestFolder } from "./folder.ts";

const group = "gateway.svc-labs.dev/v1alpha1";

const policy = (name: string, gateway: string, protocol: string): string =>
  [
    `apiVersion: ${group}`,
    "kind: SvcExternalAuth",
    `metadata: ${name}`,
    `spec: {protocol: ${protocol}, backendRef: {name: auth, port: 80}, targetRefs: [{name: ${gateway}}]}`,
    "",
  ].join("\n");

const good = policy("{name: auth}", "one", "HTTP");
const broken = policy("{name: auth}", "two", "HTPP");

/** The SvcExternalAuths of a folder: `name: state`, then the kinds and names of the targets that are closed. */
const authsOf = ({ objects }: FolderState): readonly string[] =>
  [...objects.values()]
    .filter(({ object }) => object.kind === "SvcExternalAuth")
    .map(({ object, ref, state }) => {
      const closed = targetsOfStandIn(object)?.map(({ kind, name }) => `${kind} ${name}`);
      return [`${ref.name}: ${state}`, ...(closed ?? [])].join(", ");
    });

describe("stand-ins for invalid objects that protect others", () => {
  let folder: TestFolder;
  beforeEach(async () => {
    folder = await createTestFolder();
  });
  afterEach(() => folder.remove());

  it("a stand-in is used only without a good version, and replaced by one", async () => {
    await folder.write("a.yaml", broken);
    const source = await folder.follow();
    expect(authsOf(source.latest())).to.deep.equal(["auth: stand-in, Gateway two"]);
    await folder.write("a.yaml", good);
    await source.until((state) => authsOf(state).includes("auth: current"));
    await folder.write("a.yaml", broken);
    await source.until((state) => authsOf(state).includes("auth: kept"));
    await folder.write("a.yaml", `${good}  - not YAML: [`);
    expect(
      authsOf(await source.until((state) => state.problems.some(({ reason }) => reason === "InvalidYaml"))),
    ).to.deep.equal(["auth: kept"]);
    await folder.write("a.yaml", "");
    await source.until((state) => authsOf(state).length === 0);
    await folder.write("a.yaml", broken);
    await source.until((state) => authsOf(state).includes("auth: stand-in, Gateway two"));
  });

  it("a good version in another file replaces the stand-in, in either order", async () => {
    await folder.write("a.yaml", broken);
    await folder.write("b.yaml", good);
    expect(authsOf((await folder.follow()).latest())).to.deep.equal(["auth: current"]);
  });

  it("a stand-in stays while its file is not YAML, and follows what can be read of it", async () => {
    await folder.write("a.yaml", broken);
    const source = await folder.follow();
    await folder.write("a.yaml", `${broken}---\n{`);
    const state = await source.until(({ problems }) =>
      problems.some(({ reason }) => reason === "InvalidYaml"),
    );
    expect(authsOf(state)).to.deep.equal(["auth: stand-in, Gateway two"]);
  });

  it("an object without a name has a stand-in named by its place, unless a known object lost its name", async () => {
    const nameless = policy("{nam: auth}", "two", "HTTP");
    await folder.write("a.yaml", `${nameless}---\n${nameless}`);
    const source = await folder.follow();
    expect(authsOf(source.latest())).to.deep.equal([
      `(without a name, at ${folder.path}/a.yaml:1:1): stand-in, Gateway two`,
      `(without a name, at ${folder.path}/a.yaml:6:1): stand-in, Gateway two`,
    ]);
    await folder.write("a.yaml", good);
    await source.until((state) => authsOf(state).includes("auth: current"));
    await folder.write("a.yaml", nameless);
    expect(authsOf(await source.until(({ problems }) => problems.length > 0))).to.deep.equal(["auth: kept"]);
  });

  it("an unchanged stand-in keeps its identity", async () => {
    await folder.write("a.yaml", broken);
    const source = await folder.follow();
    const before = source.latest().world.SvcExternalAuth;
    await folder.write("a.yaml", `# moved\n${broken}`);
    const state = await source.until(() => source.states.length > 1);
    expect(state.world.SvcExternalAuth).to.equal(before);
    expect(before.every(isStandIn)).to.equal(true);
  });

  it("a stand-in for class parameters holds the readable defaults as text", async () => {
    const parameters = (defaults: string): string =>
      [
        "apiVersion: ingress.svc-labs.dev/v1alpha1",
        "kind: SvcIngressClassParameters",
        "metadata: {name: defaults}",
        `spec: {accessLog: maybe, defaultAnnotations: ${defaults}}`,
        "",
      ].join("\n");
    const readDefaults = async (defaults: string, effect: string): Promise<unknown> => {
      await folder.write("a.yaml", parameters(defaults));
      const { world, problems } = (await folder.follow()).latest();
      const [object] = world.SvcIngressClassParameters;
      for (const { message } of problems) expect(message).to.match(new RegExp(`; ${effect}$`));
      expect(object !== undefined && isStandIn(object)).to.equal(true);
      return object?.spec.defaultAnnotations;
    };
    const read = await readDefaults(
      "{a: b, c: 7, d: true, e: [f], g: null}",
      "its defaults that can be read apply",
    );
    expect(read).to.deep.equal({
      a: "b",
      c: "7",
      d: "true",
      e: '["f"]',
    });
    expect(await readDefaults("[a]", "what it protects is closed")).to.equal(undefined);
  });
});
