import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { EventEmitter } from "node:events";
import { systemClock } from "@svc-gateway/common/time/clock.ts";
import { expect } from "chai";
import { createApiClient } from "../../../src/sources/kubernetes/api-client.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { runReflector } from "../../../src/sources/kubernetes/reflector.ts";
import { ingress, sendJson, startFakeApiServer, type FakeApiServer } from "./fake-api-server.ts";

/** Runs a reflector against a scripted server, and records its reports. */
function record(server: FakeApiServer) {
  const said: string[] = [];
  const objects: KubeObject[] = [];
  const waits: number[] = [];
  const changes = new EventEmitter();
  const stop = new AbortController();
  const say = (text: string): void => {
    said.push(text);
    changes.emit("said");
  };
  const start = async (): Promise<void> => {
    const client = await createApiClient(server.config);
    await runReflector({
      client,
      path: "/apis/networking.k8s.io/v1/ingresses",
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      signal: stop.signal,
      random: () => 0,
      // Waits are noted, not waited for.
      clock: {
        nowMs: () => performance.now(),
        schedule(delayMs, callback) {
          waits.push(delayMs);
          return systemClock.schedule(0, callback);
        },
      },
      events: {
        onList(listed) {
          objects.push(...listed);
          say(`list ${listed.map(({ metadata }) => metadata.name).join(",")}`);
        },
        onApply(object) {
          objects.push(object);
          say(`apply ${object.metadata.name}`);
        },
        onDelete: ({ metadata }) => say(`delete ${metadata.name}`),
        onError: ({ status }) => say(`error ${status}`),
        onRestart: () => say("restart"),
      },
    });
    await client.close();
  };
  const running = start();
  return {
    said,
    objects,
    waits,
    async until(text: string): Promise<void> {
      while (!said.includes(text)) await once(changes, "said");
    },
    async stop(): Promise<void> {
      stop.abort();
      await running;
      await server.close();
    },
  };
}

const list = (response: ServerResponse, version: string, names: readonly string[], next?: string): void =>
  sendJson(response, {
    metadata: { resourceVersion: version, ...(next === undefined ? {} : { continue: next }) },
    items: names.map((name) => ingress(name, 1)),
  });

const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;

describe("runReflector", () => {
  it("a collection is listed page by page and then watched from its version, with bookmarks", async () => {
    const server = await startFakeApiServer((_request, response, { searchParams }) => {
      if (searchParams.has("watch")) {
        response.write(line("ADDED", ingress("c", 8)));
        response.write(line("DELETED", ingress("a", 9)));
      } else if (searchParams.has("continue")) list(response, "7", ["b"]);
      else list(response, "7", ["a"], "page2");
    });
    const reflector = record(server);
    await reflector.until("delete a");
    expect(reflector.said).to.deep.equal(["list a,b", "apply c", "delete a"]);
    const watch = server.requests.find((text) => text.includes("watch=true")) ?? "";
    expect(watch).to.include("resourceVersion=7").and.to.include("allowWatchBookmarks=true");
    await reflector.stop();
  });

  it("a list that repeats its continue token is reported and not read for ever", async () => {
    const server = await startFakeApiServer((_request, response) => list(response, "7", ["a"], "page2"));
    const reflector = record(server);
    await reflector.until("error 0");
    expect(server.requests).to.have.length(2);
    expect(reflector.objects).to.deep.equal([]);
    await reflector.stop();
  });

  it("a watch that was cut resumes at its last version or bookmark, without a new list", async () => {
    let watches = 0;
    const server = await startFakeApiServer((_request, response, { searchParams }) => {
      if (!searchParams.has("watch")) return list(response, "1", []);
      watches++;
      if (watches === 1) {
        response.write(line("BOOKMARK", ingress("", 41)));
        response.write(line("ADDED", ingress("a", 42)), () => response.destroy());
      } else response.write(line("ADDED", ingress("b", 43)));
    });
    const reflector = record(server);
    await reflector.until("apply b");
    expect(server.requests.filter((text) => text.includes("watch=true"))[1]).to.include("resourceVersion=42");
    expect(server.requests.filter((text) => !text.includes("watch=true"))).to.have.length(1);
    await reflector.stop();
  });

  it("managed fields are removed from listed and watched objects", async () => {
    const item = { metadata: { name: "a", managedFields: [{}], annotations: {} }, spec: {}, status: {} };
    const server = await startFakeApiServer((_request, response, { searchParams }) => {
      if (searchParams.has("watch")) response.write(line("ADDED", item));
      else sendJson(response, { metadata: { resourceVersion: "1" }, items: [item] });
    });
    const reflector = record(server);
    await reflector.until("apply a");
    const kept = { name: "a", annotations: {} };
    expect(reflector.objects.map(({ metadata }) => metadata)).to.deep.equal([kept, kept]);
    await reflector.stop();
  });

  for (const [name, expire] of [
    [
      "an ERROR event",
      (response: ServerResponse) => response.end(line("ERROR", { code: 410, metadata: {} })),
    ],
    ["the answer's status", (response: ServerResponse) => sendJson(response, { reason: "Expired" }, 410)],
  ] as const) {
    it(`the collection is listed again when the server answers 410 by ${name}`, async () => {
      let lists = 0;
      const server = await startFakeApiServer((_request, response, { searchParams }) => {
        if (!searchParams.has("watch")) return list(response, "1", [`list${++lists}`]);
        if (lists === 1) expire(response);
        else response.write(line("ADDED", ingress("after", 5)));
      });
      const reflector = record(server);
      await reflector.until("apply after");
      expect(reflector.said).to.deep.equal(["list list1", "restart", "list list2", "apply after"]);
      await reflector.stop();
    });
  }

  it("the waits grow while the server fails, and a list that follows a 410 is not delayed", async () => {
    let lists = 0;
    let watches = 0;
    const server = await startFakeApiServer((_request, response, { searchParams }) => {
      if (!searchParams.has("watch")) return list(response, "1", [`list${++lists}`]);
      watches++;
      if (watches === 1) response.write(line("ADDED", ingress("a", 2)), () => response.destroy());
      else if (watches < 8) response.destroy();
      else if (watches === 8) sendJson(response, { reason: "Expired" }, 410);
      else response.write(line("ADDED", ingress("after", 5)));
    });
    const reflector = record(server);
    await reflector.until("apply after");
    expect(reflector.said.slice(-3)).to.deep.equal(["restart", "list list2", "apply after"]);
    expect(reflector.waits).to.deep.equal([250, 500, 1000, 2000, 2500, 2500, 2500]);
    await reflector.stop();
  });

  it("a Retry-After of the server is respected, and a server that answers 410 at once is asked with a delay", async () => {
    let watches = 0;
    const server = await startFakeApiServer((_request, response, { searchParams }) => {
      if (!searchParams.has("watch")) return list(response, "1", []);
      watches++;
      if (watches < 3) {
        response.setHeader("retry-after", watches === 1 ? "1" : "600");
        sendJson(response, { reason: "TooManyRequests" }, 429);
      } else if (watches < 5) response.end(line("ERROR", { code: 410, metadata: {} }));
      else response.write(line("ADDED", ingress("after", 5)));
    });
    const reflector = record(server);
    await reflector.until("apply after");
    expect(reflector.waits).to.deep.equal([1000, 30_000, 250]);
    await reflector.stop();
  });

  it("a failing list is reported and retried, and never delivered in part", async () => {
    let calls = 0;
    const server = await startFakeApiServer((_request, response, { searchParams }) => {
      if (searchParams.has("watch")) return void response.write("\n");
      calls++;
      if (calls === 2) sendJson(response, { reason: "Boom", message: "no" }, 500);
      else if (searchParams.has("continue")) list(response, "7", ["b"]);
      else list(response, "7", ["a"], "page2");
    });
    const reflector = record(server);
    await reflector.until("list a,b");
    expect(reflector.said).to.deep.equal(["error 500", "list a,b"]);
    await reflector.stop();
  });
});
