import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { checkoutOf } from "../../scripts/checkout.ts";
import { buildImage, imageName, loadImage, type Image } from "../deploy/image.ts";
import { namespace, release } from "../deploy/release.ts";
import { ask } from "../support/api.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { deploymentOf, podsOf, waitUntilWhole, type Component } from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { helm, kubectl } from "../support/provider.ts";
import { previousRelease } from "./previous-release.ts";

const test = "version-skew";

type Deployment = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
};

type RunningPod = { readonly spec: { readonly containers: readonly { readonly image: string }[] } };

/** Tests docs/upgrading.md, "Version skew". */
describe("controllers and proxies of this release and of the previous one", () => {
  const sandbox = useLoadedSandbox(test);
  const components: readonly Component[] = ["controller", "shared-proxy"];
  const manifests = new Map<Component, { readonly present: Deployment; readonly previous: Deployment }>();

  /** Applies the Deployment of a release as Helm does, so that Helm remains the owner of its fields. */
  const run = async (component: Component, which: "present" | "previous"): Promise<void> => {
    const manifest = manifests.get(component)?.[which];
    if (manifest === undefined) return;
    const annotations = { "meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": namespace };
    const input = JSON.stringify({ ...manifest, metadata: { namespace, annotations, ...manifest.metadata } });
    const asHelm = ["--server-side", "--force-conflicts", "--field-manager=helm"];
    await kubectl(["apply", ...asHelm, "--filename", "-"], { input });
    await waitUntilWhole(180_000);
  };
  /** The images that the pods of a component run. */
  const imagesOf = async (component: Component): Promise<ReadonlySet<string>> => {
    const pods = (await podsOf(component)) as readonly unknown[] as readonly RunningPod[];
    return new Set(pods.flatMap(({ spec }) => spec.containers.map(({ image }) => image)));
  };

  /** The manifests of the previous chart, with the values of the installation. */
  const previousManifests = async (checkout: string, image: Image): Promise<string> => {
    const values = await helm(["get", "values", release, "--namespace", namespace, "--output", "json"]);
    const set = ["--set", `image.repository=${image.repository}`, "--set-string", `image.tag=${image.tag}`];
    return helm(
      [
        "template",
        release,
        join(checkout, "config/chart"),
        "--namespace",
        namespace,
        "--values",
        "-",
        ...set,
      ],
      { input: values },
    );
  };
  const deploymentIn = (text: string, component: Component): Deployment => {
    const { name } = deploymentOf(component);
    const found = parseAllDocuments(text)
      .map((document) => document.toJS() as Deployment | null)
      .find((one) => one?.kind === "Deployment" && one.metadata.name === name);
    if (found == null) throw new Error(`the chart has no Deployment ${name}`);
    return found;
  };

  let previousImage: string;
  before(async function () {
    this.timeout(900_000);
    const commit = previousRelease();
    if (commit === undefined) {
      process.stdout.write(
        "skipped: PREVIOUS is not set, and the history of this clone has no previous release\n",
      );
      this.skip();
    }
    const checkout = checkoutOf(commit);
    const image = await buildImage(checkout);
    previousImage = imageName(image);
    await loadImage(image);
    const previous = await previousManifests(checkout, image);
    const present = await helm(["get", "manifest", release, "--namespace", namespace]);
    for (const component of components) {
      manifests.set(component, {
        present: deploymentIn(present, component),
        previous: deploymentIn(previous, component),
      });
    }
  });
  afterEach(async function () {
    this.timeout(600_000);
    for (const component of components) await run(component, "present");
  });

  /** Runs one component in the previous release, and expects old and new routes to be served during that time. */
  const together = async (component: Component, other: Component): Promise<void> => {
    await sandbox.withoutLoss(async () => {
      await run(component, "previous");
      expect([...(await imagesOf(component))]).to.deep.equal([previousImage]);
      expect([...(await imagesOf(other))]).not.to.include(previousImage);
      const route = `old-${component}`;
      await sandbox.waitUntilServed(await sandbox.applyRoute(route), 30_000);
      await poll("the route to have an address", async () => {
        const { status } = await ask<{
          readonly status: { readonly loadBalancer?: { readonly ingress?: object } };
        }>(`/apis/networking.k8s.io/v1/namespaces/${sandbox.namespace}/ingresses/${route}`);
        return status.loadBalancer?.ingress !== undefined;
      });
      await run(component, "present");
      await sandbox.waitUntilServed(await sandbox.applyRoute(`new-${component}`), 30_000);
    });
  };

  it("proxies of the previous release serve what controllers of this release send, without a lost request", async function () {
    this.timeout(600_000);
    await together("shared-proxy", "controller");
  });

  it("proxies of this release serve what controllers of the previous release send, without a lost request", async function () {
    this.timeout(600_000);
    await together("controller", "shared-proxy");
  });
});
