import { once } from "node:events";
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { backendsOf } from "../examples/backends.ts";
import { exampleFolders } from "../examples/folders.ts";
import { hasCurl } from "../examples/curl.ts";
import { isAnswer, requestsOf } from "../examples/readme.ts";
import { runExamples } from "../examples/run.ts";
import { serveExample, type ServedExample } from "../examples/standalone.ts";
import { useBuiltProgram } from "./built-program.ts";

const examples = resolve(import.meta.dirname, "../../config/examples");
const readmeOf = (folder: string): string => readFileSync(join(folder, "README.md"), "utf8");

type Kustomization = { readonly resources: readonly string[] };

describe("the examples", () => {
  const program = useBuiltProgram();

  it("config/examples/README.md lists every example", () => {
    const index = readFileSync(join(examples, "README.md"), "utf8");
    const listed = [...index.matchAll(/^\| [^|]+\| \[([^\]]+)\]/gm)]
      .map(([, name = ""]) => name)
      .sort((one, other) => (one < other ? -1 : 1));
    expect(listed).to.deep.equal(exampleFolders().map((folder) => basename(folder)));
  });

  it("every example has a README with requests, and there are at least thirty", () => {
    const withRequests = exampleFolders().filter((folder) => requestsOf(readmeOf(folder)).length > 0);
    expect(withRequests).to.have.lengthOf(exampleFolders().length);
    expect(withRequests.length).to.be.at.least(30);
  });

  it("the kustomization of an example names the backends and every manifest of the folder", () => {
    const others = exampleFolders().flatMap((folder) => {
      const { resources } = parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")) as Kustomization;
      const manifests = globSync("*.yaml", { cwd: folder }).filter(
        (name) => name !== "kustomization.yaml" && name !== "standalone.yaml",
      );
      const isWhole = resources.toSorted().join() === ["../backends", ...manifests].sort().join();
      return isWhole && existsSync(join(folder, "../backends/kustomization.yaml")) ? [] : [folder];
    });
    expect(others).to.deep.equal([]);
  });

  it("every example has the same standalone.yaml, as a link", () => {
    const copies = exampleFolders().filter(
      (folder) =>
        basename(folder) !== "backends" && !lstatSync(join(folder, "standalone.yaml")).isSymbolicLink(),
    );
    expect(copies).to.deep.equal([]);
  });

  for (const folder of exampleFolders()) {
    describe(basename(folder), () => {
      let example: ServedExample | undefined;
      before(async function () {
        if (!hasCurl) this.skip();
        const served = await serveExample(folder, program());
        if (!served.ok) throw new Error(served.error.message);
        example = served.value;
      });
      after(() => example?.close());

      for (const { command, answer } of requestsOf(readmeOf(folder))) {
        it(`${basename(folder)} answers as its README says: ${command}`, async () => {
          const output = (await example?.run(command)) ?? "";
          expect(isAnswer(answer, output), `expected\n${answer.join("\n")}\nand got\n${output}`).to.equal(
            true,
          );
        });
      }
    });
  }
});

describe("a gateway of an example that does not start", () => {
  const program = useBuiltProgram();
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "svc-gateway-examples-"));
    const [example = ""] = exampleFolders();
    cpSync(example, folder, { recursive: true, dereference: true });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("the run of the examples ends with 1 and one line, which has the message of the gateway", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const listener = { name: "http", port, protocol: "HTTP" };
    const gateway = {
      ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway", metadata: { name: "taken" } },
      spec: { gatewayClassName: "svc-gateway", listeners: [listener] },
    };
    const gatewayClass = {
      ...{
        apiVersion: "gateway.networking.k8s.io/v1",
        kind: "GatewayClass",
        metadata: { name: "svc-gateway" },
      },
      spec: { controllerName: "svc-labs.dev/gateway-controller" },
    };
    const manifests = [gatewayClass, gateway].map((object) => JSON.stringify(object)).join("\n---\n");
    writeFileSync(join(folder, "taken.yaml"), manifests);
    let [shown, failure] = ["", ""];
    const output = { out: (text: string) => (shown += text), err: (text: string) => (failure += text) };
    expect(await runExamples([folder, folder], program(), output)).to.equal(1);
    taken.close();
    expect(failure).to.match(
      new RegExp(`^\\S+: the gateway did not start: listener ${port} cannot be served: [^\\n]+\\n$`),
    );
    expect(shown.split("\n")).to.have.lengthOf(2);
  });

  it("the message of a program that Node.js cannot load is that of its error, without its stack", async () => {
    const served = await serveExample(folder, join(folder, "missing.mjs"));
    expect(served.ok || served.error.message).to.match(
      /^the gateway did not start: Error: Cannot find module [^\n]+$/,
    );
  });

  it("a program that logs something else than JSON is ended", async () => {
    const file = join(folder, "other.mjs");
    const source = `import { writeFileSync } from "node:fs";
      writeFileSync(${JSON.stringify(join(folder, "pid"))}, String(process.pid));
      console.log("started"); setInterval(() => {}, 1000);`;
    writeFileSync(file, source);
    const rejected = await serveExample(folder, file).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(rejected).to.be.instanceOf(SyntaxError);
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    expect(existsSync(`/proc/${pid}`)).to.equal(false);
  });
});

describe("the backends of an example", () => {
  it("a copy of an example has its backends, and a folder with a standalone.yaml of its own has none", () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-gateway-backends-"));
    const [example = ""] = exampleFolders();
    cpSync(example, folder, { recursive: true, dereference: true });
    expect([...backendsOf(folder).values()]).to.deep.equal(["blue", "green"]);
    const manifest = join(folder, "standalone.yaml");
    const own = readFileSync(manifest, "utf8").replaceAll("9201", "3000");
    // The copy can be a link; writing to it would change all examples.
    rmSync(manifest);
    writeFileSync(manifest, own);
    expect(backendsOf(folder).size).to.equal(0);
    rmSync(folder, { recursive: true });
  });
});

describe("the answers in READMEs of examples", () => {
  it("an answer has to be equal in every line, but for what an ellipsis covers", () => {
    expect(isAnswer(["a", "b…d"], "a\nbcd\n")).to.equal(true);
    expect(isAnswer(["a", "…", "z"], "a\nb\nc\nz\n")).to.equal(true);
    expect(isAnswer(["a"], "a\nb\n")).to.equal(false);
    expect(isAnswer(["a."], "ab\n")).to.equal(false);
  });

  it("commands of console blocks are read with the lines that follow them, and other blocks are left out", () => {
    const text = "```\n$ no\n```\n\n```console\n$ one\n1\n2\n$ two\n```\n";
    expect(requestsOf(text)).to.deep.equal([
      { command: "one", answer: ["1", "2"] },
      { command: "two", answer: [] },
    ]);
  });
});
