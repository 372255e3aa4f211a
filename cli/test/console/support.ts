/** A console of the test: a source from manifests, and a server on a free port. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createHealthRegistry } from "@svc-gateway/common/admin/health.ts";
import { readStandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { systemClock } from "@svc-gateway/common/time/clock.ts";
import { checkFixedToken, createSignIn } from "../../src/console/access/sign-in.ts";
import { createConsoleApp } from "../../src/console/console-app.ts";
import type { ConsoleBuild, ConsoleSource } from "../../src/console/console-source.ts";
import { createExplainer } from "../../src/console/explainer.ts";
import { createTrafficKeeper } from "../../src/console/traffic.ts";
import { translateFolder } from "../../src/translate-folder.ts";

/** The time limit of the test counts, also on a machine that is busy. */
export const unlimitedMs = 60 * 60_000;

export const token = "a-token-of-the-test";

/** The build that standalone mode makes of the manifests in this text. */
export async function buildOf(text: string): Promise<ConsoleBuild> {
  const read = readStandaloneSettings({ argv: ["--manifests", "-"], env: {} });
  if (!read.ok) throw new Error(read.error.message);
  const input = async function* (): AsyncGenerator<string> {
    yield text;
    await Promise.resolve();
  };
  const folder = await translateFolder(["-"], read.value.settings, { input }, Date.now());
  if (!folder.ok) throw new Error(folder.error.join());
  return { ...folder.value, builtMs: Date.now() };
}

export function sourceOf(build: ConsoleBuild | undefined, more: Partial<ConsoleSource> = {}): ConsoleSource {
  const health = createHealthRegistry("0.0.0");
  health.register("controller", ["ingress"]).set("ingress", "Ready");
  return {
    mode: "standalone",
    version: "0.0.0",
    portMap: [],
    health: () => health.document(),
    build: () => build,
    proxies: () => undefined,
    facts: () => [["Manifests", "folder"]],
    ...more,
  };
}

export type TestConsole = {
  readonly url: string;
  /** A session of a caller that is signed in. */
  readonly cookie: string;
  /** A page as a caller with a session gets it. */
  page(path: string): Promise<string>;
  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
  close(): Promise<void>;
};

export async function startTestConsole(source: ConsoleSource): Promise<TestConsole> {
  const explainer = createExplainer({ portMap: source.portMap, timeoutMs: unlimitedMs });
  const signIn = createSignIn({
    check: checkFixedToken(() => token),
    sessionMs: 24 * 60 * 60_000,
    clock: systemClock,
  });
  const { traffic } = source;
  const app = createConsoleApp({
    source,
    signIn,
    signInHint: "The token of the test.",
    explainer,
    traffic: traffic && createTrafficKeeper(traffic, performance.now()),
    hosts: ["console.example.com"],
    nowMs: Date.now,
    log: silentLogger,
  });
  const server: Server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const entered = await signIn.enter(token, "127.0.0.1");
  if (typeof entered === "string") throw new Error(entered);
  const cookie = `svc-gateway-console=${entered.session}`;
  return {
    url,
    cookie,
    async page(path) {
      const response = await fetch(url + path, { headers: { cookie } });
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return response.text();
    },
    post: (path, fields, headers = {}) =>
      fetch(url + path, {
        method: "POST",
        body: new URLSearchParams(fields),
        redirect: "manual",
        headers: { cookie, origin: url, ...headers },
      }),
    async close() {
      server.closeAllConnections();
      await Promise.all([explainer.close(), new Promise((resolve) => server.close(resolve))]);
    },
  };
}

/** An Ingress of one path, its class and its Service. */
export const shop = (name = "shop", path = "/"): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "List",
    items: [
      {
        apiVersion: "networking.k8s.io/v1",
        kind: "IngressClass",
        metadata: { name: "svc" },
        spec: { controller: "svc-labs.dev/gateway-controller" },
      },
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "web" },
        spec: { ports: [{ name: "http", port: 80 }] },
      },
      {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { name: "web", labels: { "kubernetes.io/service-name": "web" } },
        addressType: "IPv4",
        ports: [{ name: "http", port: 8000 }],
        endpoints: [{ addresses: ["10.0.0.1"] }],
      },
      {
        apiVersion: "networking.k8s.io/v1",
        kind: "Ingress",
        metadata: { name, annotations: { "ingress.svc-labs.dev/max-body-size": "1m" } },
        spec: {
          ingressClassName: "svc",
          rules: [
            {
              host: "shop.example.com",
              http: {
                paths: [
                  { path, pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } },
                ],
              },
            },
          ],
        },
      },
    ],
  });
