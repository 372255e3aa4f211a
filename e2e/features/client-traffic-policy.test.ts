import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { ask } from "../support/api.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, httpRoute, needGatewayApi } from "../support/gateway-api.ts";
import { programmedAddress } from "../support/gateways.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("ClientTrafficPolicy", () => {
  const sandbox = useSandbox("client-traffic-policy");
  const ours = "gateway.svc-labs.dev/v1alpha1";
  const host = "client-traffic-policy.e2e.example";
  type Policy = {
    readonly status?: {
      readonly ancestors?: readonly {
        readonly ancestorRef: { readonly sectionName?: string };
        readonly conditions: readonly { readonly reason: string }[];
      }[];
    };
  };

  const policy = (trustedSources: readonly string[]) => ({
    apiVersion: ours,
    kind: "ClientTrafficPolicy",
    metadata: { name: "proxied" },
    spec: {
      targetRefs: [{ name: "proxied", sectionName: "http" }],
      proxyProtocol: { enabled: true, trustedSources },
    },
  });

  /** Sends these bytes and a request, and returns the bytes received until the connection ends. */
  async function talk(address: string, start: string): Promise<string> {
    const socket = connect({ host: address, port: 80 });
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.setTimeout(10_000, () => socket.destroy());
    socket.write(`${start}GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    await once(socket, "close");
    return text;
  }

  before(async function () {
    await needGatewayApi(this);
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(gateway("proxied"), httpRoute("echo", "proxied", { hostnames: [host] }));
  });

  it("ClientTrafficPolicy: the PROXY header of a trusted peer sets the client address", async () => {
    const address = await programmedAddress(sandbox.namespace, "proxied");
    const header = "PROXY TCP4 192.0.2.7 192.0.2.1 4711 80\r\n";
    await until("the route", async () => (await talk(address, "")).startsWith("HTTP/1.1 200 "));
    await sandbox.apply(policy(["0.0.0.0/0", "::/0"]));
    const { value } = await until("the policy", async () => {
      const text = await talk(address, header);
      return text.startsWith("HTTP/1.1 200 ") && text;
    });
    expect(value).to.include("192.0.2.7");
    expect(await talk(address, "")).to.equal("");
    const { value: status } = await until("the status", async () => {
      const path = `/apis/${ours}/namespaces/${sandbox.namespace}/clienttrafficpolicies/proxied`;
      return (await ask<Policy>(path)).status?.ancestors?.[0];
    });
    expect([status.ancestorRef.sectionName, status.conditions[0]?.reason]).to.deep.equal([
      "http",
      "Accepted",
    ]);
    await sandbox.apply(policy(["198.51.100.1"]));
    await until("the PROXY header to be rejected", async () => (await talk(address, header)) === "");
  });

  /** Opens a connection and keeps it open; undefined when it is closed without a response. */
  async function hold(address: string): Promise<Socket | undefined> {
    const socket = connect({ host: address, port: 80 });
    const ended = new Promise<undefined>((resolve) => socket.once("close", () => resolve(undefined)));
    const answered = new Promise<Socket>((resolve) => {
      socket.once("data", () => {
        socket.setTimeout(0);
        resolve(socket);
      });
    });
    socket.on("error", () => {});
    socket.setTimeout(10_000, () => socket.destroy());
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    return Promise.race([answered, ended]);
  }

  it("ClientTrafficPolicy: maxConnections limits a listener on each proxy until connections end", async () => {
    const address = await programmedAddress(sandbox.namespace, "proxied");
    const { targetRefs } = policy([]).spec;
    await sandbox.apply({ ...policy([]), spec: { targetRefs, maxConnections: 2 } });
    await until("no header to be asked for", async () =>
      (await talk(address, "")).startsWith("HTTP/1.1 200 "),
    );
    const held: Socket[] = [];
    await until("a connection too many", async () => {
      const socket = await hold(address);
      if (socket !== undefined) held.push(socket);
      return socket === undefined;
    });
    expect(held.length).to.be.at.least(2);
    for (const socket of held) socket.destroy();
    await until("room again", async () => (await talk(address, "")).startsWith("HTTP/1.1 200 "));
  });
});
