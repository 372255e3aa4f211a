import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TLSSocket } from "node:tls";
import { pathToFileURL } from "node:url";
import type { createApiClient } from "@svc-gateway/operator/sources/kubernetes/api-client.ts";
import { expect } from "chai";
import { build, type Metafile } from "esbuild";
import { contractFields } from "@svc-gateway/common/ir/contract-fields.ts";
import { bundleProgram, modules, type Bundle } from "../bundle/bundle.ts";
import { replacements, unusedParts } from "../bundle/unused-parts.ts";
import { licencesOf } from "../licences/licences.ts";
import { shippedPackages } from "../licences/shipped-packages.ts";
import { takenOver } from "../licences/taken-over.ts";
import { createExampleCertificates, type ExampleCertificates } from "../quickstart/certificates.ts";

const root = resolve(import.meta.dirname, "../..");
const packageOf = (path: string): string | undefined =>
  /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];

describe("the bundle", () => {
  let metafile: Metafile;
  let outputFiles: Bundle["outputFiles"];
  before(async () => {
    ({ metafile, outputFiles } = await bundleProgram());
  });

  /** The files that a program loads before it does anything else. */
  const loadedBy = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
    seen.add(file);
    for (const { path, kind, external } of metafile.outputs[file]?.imports ?? []) {
      if (kind === "import-statement" && external !== true && !seen.has(path)) loadedBy(path, seen);
    }
    return seen;
  };
  const inputsOf = (file: string): readonly string[] =>
    [...loadedBy(file)].flatMap((part) => Object.keys(metafile.outputs[part]?.inputs ?? {}));

  it("the bundle has none of the libraries that only unused parts of its dependencies need", () => {
    const packages = new Set(Object.keys(metafile.inputs).map(packageOf));
    const absent = [
      "openid-client",
      "oauth4webapi",
      "socks",
      "socks-proxy-agent",
      "ip-address",
      "hpagent",
      "tar-fs",
    ];
    absent.push("jsonpath-plus", "ws", "isomorphic-ws", "stream-buffers", "gaxios", "node-fetch", "tr46");
    expect(absent.filter((name) => packages.has(name))).to.deep.equal([]);
    expect(packages).to.include("@kubernetes/client-node");
    const generated = Object.keys(metafile.inputs).filter((path) =>
      path.includes("client-node/dist/gen/models"),
    );
    expect(generated).to.deep.equal([]);
  });

  it("every replacement of an unused part is used, and gives its reason", () => {
    for (const { module, reason } of replacements) {
      expect(metafile.inputs, module).to.have.property(`unused-parts:${module}`);
      expect(reason, module).to.match(/^[A-Z].*\.$/);
    }
  });

  it("a program loads the libraries of other commands only on demand", () => {
    const main = inputsOf("dist/main.mjs");
    expect(main.filter((path) => packageOf(path) !== undefined)).to.deep.equal([]);
    const worker = inputsOf("dist/proxy-worker.mjs");
    const foreign = worker.filter((path) =>
      /^(?:operator|cli)\/|node_modules\/(?:undici|@kubernetes)\//.test(path),
    );
    expect(foreign).to.deep.equal([]);
  });

  it("a proxy asks for its first snapshot before it loads schemas", () => {
    const client = Object.keys(metafile.outputs).filter(
      (file) => metafile.outputs[file]?.inputs["proxy/src/source/discovery-client.ts"] !== undefined,
    );
    expect(client).to.have.length(1);
    const loaded = client.flatMap(inputsOf);
    expect(loaded).to.include("proxy/src/source/controller-stream.ts");
    expect(loaded.filter((path) => /node_modules\/zod\/|common\/src\/features\//.test(path))).to.deep.equal(
      [],
    );
    // Lines are limited, also within strings.
    const text = outputFiles.map((file) => file.text.replaceAll("\\\n", "")).join("");
    expect(contractFields().filter((field) => !text.includes(`"${field}"`))).to.deep.equal([]);
  });

  it("every package of the bundle has a permitted licence with its text, and a digest", () => {
    const packages = shippedPackages(metafile);
    expect(packages.map(({ name }) => name)).to.include.members(["@kubernetes/client-node", "undici", "zod"]);
    expect(packages.filter(({ integrity }) => integrity === undefined)).to.deep.equal([]);
    const read = licencesOf(packages);
    if (!read.ok) throw new Error(read.error.join("\n"));
    const titles = [...read.value.matchAll(/^={80}\n(.+)\n.+\n={80}$/gm)].map(([, title]) => title);
    expect(titles.slice(0, packages.length)).to.deep.equal(
      packages.map(({ name, version }) => `${name} ${version}`),
    );
    expect(titles.slice(packages.length)).to.deep.equal(takenOver.map(({ name }) => name));
  });

  it("code that a package of the bundle has from others goes along with their licences and names", () => {
    const packages = shippedPackages(metafile);
    const undici = packages.find(({ name }) => name === "undici");
    // Its fetch is by Ethan Arrowood, and parts of its WebSocket code are from the package ws.
    expect(undici?.texts.join("\n")).to.include("Copyright (c) 2020 Ethan Arrowood");
    expect(undici?.copyrights.join("\n")).to.include("Luigi Pinca");
    for (const { name, notices } of packages.filter(({ licence = "" }) => licence.includes("Apache"))) {
      const files = readdirSync(join(root, "node_modules", name)).filter((file) => /notice/i.test(file));
      expect(notices, name).to.have.length(files.length);
    }
  });

  it("the bundle imports no deprecated module of Node.js, whose warning would be among the lines of the log", () => {
    const external = Object.values(metafile.outputs).flatMap(({ imports }) =>
      imports.filter((one) => one.external === true).map(({ path }) => path.replace(/^node:/, "")),
    );
    expect(external).to.include("fs");
    expect(external.filter((name) => ["punycode", "domain", "sys"].includes(name))).to.deep.equal([]);
  });

  it("no file of the bundle imports node:http, which would load the client behind fetch in each thread", () => {
    const imported = Object.values(metafile.outputs).flatMap(({ imports }) =>
      imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => path),
    );
    expect(imported).to.include("node:net");
    expect(imported.filter((path) => path === "http" || path === "node:http")).to.deep.equal([]);
    expect(Object.keys(metafile.inputs)).to.include("builtin-http:node:http");
  });

  it("no package of the bundle loads others by a require of its own, which finds nothing in an image", () => {
    for (const { path, text } of outputFiles.filter((file) => file.path.endsWith(".mjs"))) {
      expect(text.match(/\bcreateRequire\d*\(/g), path).to.equal(null);
    }
  });

  it("all files of the bundle are in one folder and import each other from there", () => {
    for (const [file, { imports }] of Object.entries(metafile.outputs)) {
      expect(file).to.match(/^dist\/[\w-]+\.mjs(?:\.map)?$/);
      for (const { path, external } of imports) {
        if (external !== true) expect(metafile.outputs, file).to.have.property(path);
      }
    }
  });
});

describe("the Kubernetes client of the bundle", () => {
  type KubeConfig = Parameters<typeof createApiClient>[0];
  type Bundled = { KubeConfig: new () => KubeConfig; createApiClient: typeof createApiClient };
  let folder: string;
  let bundled: Bundled;
  let server: Server;
  let serverCertificates: ExampleCertificates;
  let clientCertificates: ExampleCertificates;
  const seen: { authorization: string | undefined; isTrusted: boolean }[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "svc-gateway-bundle-"));
    const outfile = join(folder, "client.mjs");
    await build({
      absWorkingDir: root,
      stdin: {
        contents: `export { KubeConfig } from "@kubernetes/client-node";
          export { createApiClient } from "./operator/src/sources/kubernetes/api-client.ts";`,
        resolveDir: root,
      },
      plugins: [unusedParts],
      outfile,
      ...modules,
    });
    bundled = (await import(pathToFileURL(outfile).href)) as Bundled;
    [serverCertificates, clientCertificates] = await Promise.all([
      createExampleCertificates(["localhost"]),
      createExampleCertificates(["a-client"], { usage: "client" }),
    ]);
    server = createServer(
      {
        key: serverCertificates.keyPem,
        cert: serverCertificates.certificatePem,
        ca: clientCertificates.authorityPem,
        requestCert: true,
        rejectUnauthorized: false,
      },
      (request: IncomingMessage, response) => {
        const socket = request.socket as TLSSocket;
        seen.push({ authorization: request.headers.authorization, isTrusted: socket.authorized });
        response.end("{}");
      },
    );
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => seen.splice(0));

  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const kubeconfig = (user: object, cluster: object = {}): string =>
    JSON.stringify({
      clusters: [
        {
          name: "c",
          cluster: {
            server: `https://localhost:${(server.address() as AddressInfo).port}`,
            "certificate-authority-data": base64(serverCertificates.authorityPem),
            ...cluster,
          },
        },
      ],
      users: [{ name: "u", user }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    });
  /** Sends one request with a configuration; returns its result, and the request as the API server received it. */
  const call = async (config: KubeConfig): Promise<unknown> => {
    const client = await bundled.createApiClient(config);
    try {
      const answer = await client.call("/readyz");
      return answer.ok ? seen[0] : answer.error.message;
    } finally {
      await client.close();
    }
  };
  const callAs = (user: object, cluster?: object): Promise<unknown> => {
    const config = new bundled.KubeConfig();
    config.loadFromString(kubeconfig(user, cluster));
    return call(config);
  };
  const rejection = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "accepted",
      (error: unknown) => (error as Error).message,
    );
  const jwt = (expiresAtSeconds: number): string =>
    [{ alg: "none" }, { exp: expiresAtSeconds }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .concat("c2ln")
      .join(".");
  const oidc = (token: string): object => ({
    "auth-provider": {
      name: "oidc",
      config: {
        "id-token": token,
        "client-id": "a",
        "refresh-token": "b",
        "idp-issuer-url": "https://issuer.invalid",
      },
    },
  });

  it("a kubeconfig with an exec plugin authenticates with the token that it prints", async () => {
    const printed = JSON.stringify({ status: { token: "from-exec" } });
    const user = {
      exec: {
        apiVersion: "client.authentication.k8s.io/v1",
        command: process.execPath,
        args: ["-e", `console.log(${JSON.stringify(printed)})`],
      },
    };
    expect(await callAs(user)).to.deep.equal({ authorization: "Bearer from-exec", isTrusted: false });
  });

  it("a kubeconfig with a client certificate authenticates with it", async () => {
    const user = {
      "client-certificate-data": base64(clientCertificates.certificatePem),
      "client-key-data": base64(clientCertificates.keyPem),
    };
    expect(await callAs(user)).to.deep.equal({ authorization: undefined, isTrusted: true });
  });

  it("a kubeconfig with a token authenticates with it", async () => {
    expect(await callAs({ token: "plain" })).to.deep.equal({
      authorization: "Bearer plain",
      isTrusted: false,
    });
  });

  it("the configuration of a pod authenticates with the token in its file", async () => {
    const account = join(folder, "var/run/secrets/kubernetes.io/serviceaccount");
    mkdirSync(account, { recursive: true });
    writeFileSync(join(account, "ca.crt"), serverCertificates.authorityPem);
    writeFileSync(join(account, "token"), "from-file");
    const config = new bundled.KubeConfig();
    config.loadFromCluster(folder);
    const cluster = config.getCurrentCluster();
    if (cluster === null) throw new Error("the pod has no cluster");
    Object.assign(cluster, { server: `https://localhost:${(server.address() as AddressInfo).port}` });
    expect(await call(config)).to.deep.equal({ authorization: "Bearer from-file", isTrusted: false });
  });

  it("a valid token of the auth provider oidc is used, and an expired one is reported with what to do", async () => {
    const valid = jwt(32_503_680_000);
    expect(await callAs(oidc(valid))).to.deep.equal({ authorization: `Bearer ${valid}`, isTrusted: false });
    expect(await rejection(callAs(oidc(jwt(1))))).to.equal(
      'the id-token of the auth provider "oidc" in the kubeconfig has expired, and only kubectl renews it: run "kubectl version" once, or use an exec plugin',
    );
  });

  it("an expired token of the auth provider gcp is reported with what to do", async () => {
    const config = {
      "access-token": "old",
      expiry: "2001-01-01T00:00:00Z",
      "cmd-path": process.execPath,
      "cmd-args": "--version | sed s/.*/{}/",
      "token-key": "{.a}",
      "expiry-key": "{.b}",
    };
    expect(await rejection(callAs({ "auth-provider": { name: "gcp", config } }))).to.match(
      /^the token of the kubeconfig has expired, and its auth provider "gcp" or "azure" is not supported, expected an exec plugin$/,
    );
  });

  it("a kubeconfig with a proxy is rejected instead of being used without it", async () => {
    for (const proxy of ["socks5://127.0.0.1:1", "http://127.0.0.1:1"]) {
      expect(await rejection(callAs({ token: "plain" }, { "proxy-url": proxy }))).to.equal(
        'the cluster "c" of the kubeconfig sets "proxy-url", expected an API server that is reached directly: proxies are not supported',
      );
    }
    expect(seen).to.deep.equal([]);
  });
});
