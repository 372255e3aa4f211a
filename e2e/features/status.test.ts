import { request } from "node:http";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { expect } from "chai";
import { loadBalancerAddresses } from "../support/address.ts";
import { ask } from "../support/api.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

type IngressObject = {
  readonly status: {
    readonly loadBalancer?: {
      readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[];
    };
  };
};

describe("the status of an Ingress", () => {
  const sandbox = useSandbox("status");
  const host = "status.e2e.example";
  const addressesOf = async (name: string): Promise<readonly string[]> => {
    const path = `/apis/networking.k8s.io/v1/namespaces/${sandbox.namespace}/ingresses/${name}`;
    const { status } = await ask<IngressObject>(path);
    return (status.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []);
  };

  before(async function () {
    // A cluster without a load balancer assigns no address.
    if ((await loadBalancerAddresses()).length === 0) this.skip();
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(ingress({ name: "status", host, paths: [{ service: "echo" }] }));
  });

  it("the status of an Ingress has the address of the shared proxies, where it is served", async () => {
    const { value } = await until("an address", async () => {
      const addresses = await addressesOf("status");
      return addresses.length > 0 && addresses;
    });
    expect(value).to.deep.equal(await loadBalancerAddresses());
    const sent = request({ host: value[0] ?? "", port: 80, headers: { host }, agent: false });
    sent.end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).to.equal(200);
  });

  it("the status of an Ingress of another class stays empty", async () => {
    await sandbox.apply(
      ingress({
        name: "foreign",
        host: "foreign.e2e.example",
        className: "other",
        paths: [{ service: "echo" }],
      }),
      ingress({ name: "marker", host: "status-marker.e2e.example", paths: [{ service: "echo" }] }),
    );
    await until("the address of an Ingress of ours", async () => (await addressesOf("marker")).length > 0);
    expect(await addressesOf("foreign")).to.deep.equal([]);
  });

  it("the status of an Ingress that leaves the class is cleared", async () => {
    await sandbox.apply(
      ingress({ name: "leaving", host: "leaving.e2e.example", paths: [{ service: "echo" }] }),
    );
    await until("an address", async () => (await addressesOf("leaving")).length > 0);
    await sandbox.apply(
      ingress({
        name: "leaving",
        host: "leaving.e2e.example",
        className: "other",
        paths: [{ service: "echo" }],
      }),
    );
    await until("no address", async () => (await addressesOf("leaving")).length === 0);
  });
});
