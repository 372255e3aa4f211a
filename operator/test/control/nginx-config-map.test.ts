import { expect } from "chai";
import { until } from "../../../common/test/until.ts";
import { bootstrap, closeClients, openRawStream, subscribe } from "../discovery/support/raw-client.ts";
import { ingressManifest } from "../support/manifests.ts";
import { createReplicaRig, ingresses, publishedTrust, sharedProxyReview } from "./replica-rig.ts";

const configMaps = "/api/v1/configmaps";

const settings = (bodySize: string): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "ingress-nginx", name: "settings" },
  data: { "proxy-body-size": bodySize },
});

describe("the ConfigMap of ingress-nginx in a cluster", () => {
  const { useCluster, startReplica } = createReplicaRig();

  afterEach(closeClients);

  it("a change of the ConfigMap of ingress-nginx changes the snapshot, and its removal restores the defaults", async () => {
    const cluster = await useCluster({ reviewToken: () => sharedProxyReview });
    const ingress = ingressManifest("a", "a.example");
    cluster.put(ingresses, {
      ...ingress,
      spec: { ...(ingress["spec" as keyof object] as object), ingressClassName: "nginx" },
    });
    cluster.put(configMaps, settings("3m"));
    const replica = await startReplica("ctl-0", {
      "ingress-nginx-classes": "nginx",
      "ingress-nginx-configmap": "ingress-nginx/settings",
    });
    await until(() => replica.isReady() && replica.isLeading(), "a leader");
    const trustPem = await publishedTrust(cluster);
    const { identity } = await bootstrap(replica.bootstrapPort, trustPem, { token: "a-token" });
    const stream = openRawStream(replica.streamPort, trustPem, identity);
    stream.send(subscribe("proxy-0"));
    /** The limit of the route as the proxies last got it. */
    const maxBytes = (): unknown => {
      stream.ackOnce();
      const sent = stream.messages.flatMap(({ has_snapshot: has, snapshot }) =>
        has ? snapshot.resources : [],
      );
      const route = sent.findLast(
        ({ key }) => key.startsWith("route|ingress|") && key.endsWith("|a.example"),
      );
      const text = route === undefined ? "" : Buffer.from(route.body as Uint8Array).toString();
      return Number(/"maxBytes":(\d+)/.exec(text)?.[1]);
    };
    await until(() => maxBytes() === 3 * 1024 ** 2, "the limit of the ConfigMap");
    cluster.put(configMaps, settings("5m"));
    await until(() => maxBytes() === 5 * 1024 ** 2, "the changed limit");
    cluster.remove(configMaps, "ingress-nginx/settings");
    await until(() => maxBytes() === 1024 ** 2, "the built-in limit");
    expect(stream.status()).to.equal(undefined);
  });
});
