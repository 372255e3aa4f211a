import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { until } from "../../../../common/test/until.ts";
import { createApiClient } from "../../../src/sources/kubernetes/api-client.ts";
import { followProvisionedObjects } from "../../../src/sources/kubernetes/provisioned-objects.ts";
import { controllerAnnotation } from "../../../src/translate/gateway/names.ts";
import { sendJson, startFakeApiServer } from "./fake-api-server.ts";

const controllerName = "svc-labs.dev/gateway-controller";
const ref = { kind: "Service", namespace: "ns", name: "a-svc" } as const;

const service = (name: string, gateway: string, controller = controllerName): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name,
    namespace: "ns",
    uid: name,
    resourceVersion: "2",
    annotations: { [controllerAnnotation]: controller },
    ownerReferences: [
      { apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway", name: gateway, uid: gateway },
    ],
  },
});

describe("the objects that are made for Gateways", () => {
  it("the followed objects are those of this controller, and a change or deletion is reported by its Gateway", async () => {
    const watches = new Map<string, ServerResponse>();
    const server = await startFakeApiServer((_request, response, { pathname, searchParams }) => {
      if (searchParams.has("watch")) return void watches.set(pathname, response);
      const items = [service("a-svc", "a"), service("b-svc", "b", "another.example/controller")];
      const isServices = pathname === "/api/v1/services";
      sendJson(response, { metadata: { resourceVersion: "1" }, items: isServices ? items : [] });
    });
    const client = await createApiClient(server.config);
    const stop = new AbortController();
    const objects = followProvisionedObjects({
      client,
      controllerName,
      log: silentLogger,
      signal: stop.signal,
    });
    const notified: (string | undefined)[] = [];
    objects.subscribe((gateway) => notified.push(gateway));
    await until(() => objects.isListed() && watches.size === 5, "the lists, and the watches");
    expect(notified).to.deep.equal([undefined]);
    expect([...objects.gateways()]).to.deep.equal(["ns/a"]);

    const say = (type: string, object: object): void =>
      void watches.get("/api/v1/services")?.write(`${JSON.stringify({ type, object })}\n`);
    say("MODIFIED", service("a-svc", "a"));
    await until(() => notified.length === 2, "the changed Service");
    say("MODIFIED", service("a-svc", "c"));
    await until(() => notified.length === 4, "the Service that became another Gateway's");
    expect(objects.of("ns/c").map(({ metadata }) => metadata.name)).to.deep.equal(["a-svc"]);
    say("DELETED", service("a-svc", "c"));
    await until(() => notified.length === 5, "the deleted Service");
    expect(notified.slice(1)).to.deep.equal(["ns/a", "ns/a", "ns/c", "ns/c"]);
    expect(objects.get(ref)).to.equal(undefined);

    stop.abort();
    await objects.done;
    await client.close();
    await server.close();
  });

  it("objects are followed only in the configured namespaces", async () => {
    const asked = new Set<string>();
    const server = await startFakeApiServer((_request, response, { pathname, searchParams }) => {
      asked.add(pathname);
      if (searchParams.has("watch")) return;
      const isServices = pathname === "/api/v1/namespaces/ns/services";
      sendJson(response, {
        metadata: { resourceVersion: "1" },
        items: isServices ? [service("a-svc", "a")] : [],
      });
    });
    const client = await createApiClient(server.config);
    const stop = new AbortController();
    const objects = followProvisionedObjects({
      client,
      controllerName,
      namespaces: ["ns", "other"],
      log: silentLogger,
      signal: stop.signal,
    });
    await until(() => objects.isListed(), "the lists");
    expect(asked.size).to.equal(10);
    for (const path of asked) expect(path).to.match(/\/namespaces\/(ns|other)\//);
    expect(objects.get(ref)?.metadata.uid).to.equal("a-svc");
    expect([...objects.gateways()]).to.deep.equal(["ns/a"]);
    stop.abort();
    await objects.done;
    await client.close();
    await server.close();
  });
});
