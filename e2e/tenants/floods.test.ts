import { expect } from "chai";
import { namespace } from "../deploy/release.ts";
import { send } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { deletePod, readyPodsOf, podsOf, waitUntilWhole } from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { kubectl } from "../support/provider.ts";
import { useTenant, useVictim } from "../support/tenant.ts";
import { until } from "../support/until.ts";

describe("a tenant that floods", () => {
  const tenant = useTenant("tenant-floods");
  const victim = useVictim("tenant-floods-victim");
  const host = `${tenant.namespace}.example`;

  before(async function () {
    this.timeout(300_000);
    await deployEcho(tenant, { name: "mallory", replicas: 1 });
  });

  it("regular expressions with catastrophic backtracking do not slow down other tenants", async () => {
    const expressions = [
      "/(a+)+$",
      "/(a|aa)+$",
      "/(.*a){20}",
      "/((a{1,50}){1,50}){1,50}",
      `/${"(a?)".repeat(40)}b`,
    ];
    await tenant.apply(
      ingress({
        name: "expressions",
        host,
        annotations: { "use-regex": "true" },
        paths: [
          ...expressions.map((path) => ({
            path,
            pathType: "ImplementationSpecific" as const,
            service: "mallory",
          })),
          { path: "/known", service: "mallory" },
        ],
      }),
    );
    await until("the Ingress", async () => (await send({ host, path: "/known" })).status === 200);
    const bad = `/${"a".repeat(2_000)}!`;
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        await send({ host, path: bad });
        await victim.expectServed();
      }),
    );
  });

  it("a flood of password checks does not slow down other tenants", async () => {
    const cost12 = "$2b$12$8lE.arUjjF15iEZOQofIH.sv4RiV5ekckUZizdAdzk1gBFNIAGfby";
    await tenant.apply(
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "users", labels: { "ingress.svc-labs.dev/auth-basic": "true" } },
        type: "Opaque",
        stringData: { auth: `alice:${cost12}\n` },
      },
      ingress({
        name: "passwords",
        host: `auth.${host}`,
        annotations: { "auth-basic-secret": `${tenant.namespace}/users` },
        paths: [{ service: "mallory" }],
      }),
    );
    await until("the Ingress", async () => (await send({ host: `auth.${host}` })).status === 401);
    const wrong = (index: number): Promise<number> => {
      const authorization = `Basic ${Buffer.from(`alice:wrong-${index}`).toString("base64")}`;
      return send({ host: `auth.${host}`, headers: { authorization }, timeoutMs: 60_000 }).then(
        ({ status }) => status,
      );
    };
    const flood = Array.from({ length: 100 }, (_, index) => wrong(index));
    for (let times = 0; times < 10; times++) await victim.expectServed();
    const statuses = new Set(await Promise.all(flood));
    expect([...statuses].every((status) => status === 401 || status === 503)).to.equal(true);
  });

  it("a tenant cannot forge log lines", async () => {
    const forged = '{"level":"error","message":"forged by mallory"}';
    const since = new Date().toISOString();
    await tenant.apply({
      ...ingress({ name: "log", host: `log.${host}`, paths: [{ service: "mallory" }] }),
      metadata: {
        name: "log",
        annotations: {
          "ingress.svc-labs.dev/mirror-target": `nothing.${tenant.namespace}`,
          [`ingress.svc-labs.dev/unknown`]: `x\n${forged}\n`,
        },
      },
    });
    await until("the Ingress", async () => (await send({ host: `log.${host}` })).status === 200);
    await send({
      host: `log.${host}`,
      path: `/a%0a${encodeURIComponent(forged)}`,
      headers: { "user-agent": forged },
    });
    await victim.expectServed();
    for (const component of ["controller", "shared-proxy"] as const) {
      for (const { metadata } of await podsOf(component)) {
        const text = await kubectl([
          "--namespace",
          namespace,
          "logs",
          metadata.name,
          `--since-time=${since}`,
        ]);
        for (const line of text.split("\n").filter((one) => one !== "")) {
          const parsed = JSON.parse(line) as { readonly message?: string };
          expect(parsed.message).to.not.equal("forged by mallory");
        }
      }
    }
  });

  it("annotations of the maximum size do not keep a new proxy from its snapshot", async function () {
    this.timeout(600_000);
    const annotations = { "request-header-set": `X-Large: ${"v".repeat(60_000)}` };
    const paths = Array.from({ length: 32 }, (_, index) => ({ path: `/${index}`, service: "mallory" }));
    // About the number that the snapshot of the shared proxies can contain: 3.8 MB each, on two ports.
    const large = (index: number): string => `large-${index}.${host}`;
    const count = 52;
    for (let index = 0; index < count; index++)
      await tenant.apply(ingress({ name: `large-${index}`, host: large(index), annotations, paths }));
    // The routes are served: the 431 is the response of the backend, which rejects such a large head.
    const answers = await until("the last of them", async () => {
      const { status } = await send({ host: large(count - 1), path: "/0" });
      return status === 404 ? false : status;
    });
    expect(answers.value).to.equal(431);
    await victim.expectServed();
    const [pod = ""] = await readyPodsOf("shared-proxy");
    await deletePod(pod);
    await poll(
      "a new proxy to be ready",
      async () => {
        const ready = await readyPodsOf("shared-proxy");
        return ready.length >= 2 && !ready.includes(pod);
      },
      180_000,
    );
    await waitUntilWhole();
    for (let times = 0; times < 10; times++) await victim.expectServed();
    const late = `late.${victim.host}`;
    await victim.apply(ingress({ name: "late", host: late, paths: [{ service: "victim" }] }));
    await until("a new route of the victim", async () => (await send({ host: late })).status === 200);
  });
});
