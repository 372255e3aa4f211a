import { connect } from "node:net";
import { expect } from "chai";
import { find } from "../support/api.ts";
import { send } from "../support/client.ts";
import { gateway, needGatewayApi, route, to } from "../support/gateway-api.ts";
import { programmedAddress } from "../support/gateways.ts";
import { ingress } from "../support/ingress.ts";
import { podsOf, waitUntilWhole } from "../support/pods.ts";
import { serviceAt, useTenant, useVictim } from "../support/tenant.ts";
import { until } from "../support/until.ts";

/** The management ports of the pods of the gateway. */
const ports = { controller: [8081, 8082, 50051, 50052], "shared-proxy": [8081, 8082] } as const;

describe("a tenant whose backends are pods of the gateway", () => {
  const tenant = useTenant("tenant-ports");
  const victim = useVictim("tenant-ports-victim");
  const host = `${tenant.namespace}.example`;
  /** The targets, by path. */
  const targets = new Map<string, { readonly address: string; readonly port: number }>();

  before(async function () {
    this.timeout(300_000);
    await waitUntilWhole();
    for (const component of ["controller", "shared-proxy"] as const) {
      for (const [index, pod] of (await podsOf(component)).entries()) {
        for (const port of ports[component]) {
          targets.set(`/${component}-${index}-${port}`, { address: pod.status.podIP ?? "", port });
        }
      }
    }
  });

  it("a backend that is a management port of the gateway gets 503", async () => {
    const paths = [...targets].map(([path]) => ({ path, service: path.slice(1) }));
    const services = [...targets].flatMap(([path, { address, port }]) =>
      serviceAt(path.slice(1), address, port),
    );
    await tenant.apply(...services, ingress({ name: "steal", host, paths }));
    await until(
      "the paths to be served",
      async () => (await send({ host, path: paths[0]?.path ?? "" })).status !== 404,
    );
    for (const { path } of paths) {
      for (const page of ["/metrics", "/api/v1/fleet/proxies", "/api/v1/health", "/healthz"]) {
        const reply = await send({ host, path: `${path}${page}` });
        expect(reply.status, `${path}${page}`).to.equal(503);
        expect(reply.body).to.not.match(/svc_|subsystems|proxies|^ok/);
      }
    }
    await victim.expectServed();
  });

  it("a second Service with the cluster IP of the first gets 503, too", async () => {
    const detours: string[] = [];
    for (const [path, { address, port }] of targets) {
      if (port !== 8082) continue;
      const inner = `inner${path.replace("/", "-")}`;
      await tenant.apply(...serviceAt(inner, address, port));
      const service = await find<{ readonly spec: { readonly clusterIP: string } }>(
        `/api/v1/namespaces/${tenant.namespace}/services/${inner}`,
      );
      const outer = `outer${path.replace("/", "-")}`;
      await tenant.apply(...serviceAt(outer, service?.spec.clusterIP ?? "", 80));
      detours.push(outer);
    }
    await tenant.apply(
      ingress({
        name: "detour",
        host: `detour.${host}`,
        paths: detours.map((service) => ({ path: `/${service}`, service })),
      }),
    );
    await until(
      "the detours to be served",
      async () => (await send({ host: `detour.${host}`, path: `/${detours[0]}` })).status !== 404,
    );
    for (const service of detours) {
      for (let times = 0; times < 3; times++) {
        const reply = await send({ host: `detour.${host}`, path: `/${service}` });
        expect(reply.body, service).to.not.match(/svc_|not found/);
        expect(reply.status, service).to.equal(503);
      }
    }
  });

  it("a TCPRoute gets no connection to a management port of the gateway", async function () {
    await needGatewayApi(this);
    const [path = ""] = [...targets].find(([, { port }]) => port === 8082) ?? [];
    await tenant.apply(
      gateway("low", { listeners: [{ name: "tcp", port: 9000, protocol: "TCP" }] }),
      route("TCPRoute", "low", {
        parentRefs: [{ name: "low" }],
        rules: [{ backendRefs: to(path.slice(1)) }],
      }),
    );
    const address = await programmedAddress(tenant.namespace, "low");
    const answer = await new Promise<string>((resolve) => {
      let text = "";
      const socket = connect({ host: address, port: 9000 });
      socket.on("connect", () => socket.write("GET /metrics HTTP/1.0\r\n\r\n"));
      socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
      socket.on("error", () => {});
      socket.on("close", () => resolve(text));
    });
    expect(answer).to.equal("");
    await victim.expectServed();
  });
});
