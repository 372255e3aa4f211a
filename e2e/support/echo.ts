import { deploymentOf, waitForRollout } from "./pods.ts";
import { echoManifests, type EchoManifestOptions } from "./echo-manifests.ts";
import type { Sandbox } from "./sandbox.ts";
import { ask } from "./api.ts";

type Deployment = {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
};

/** Runs an echo backend in a sandbox, with the installed image, and waits until it is ready. */
export async function deployEcho(
  sandbox: Sandbox,
  {
    name = "echo",
    program,
    replicas = 2,
    cpuRequest,
    certificate,
  }: Partial<Pick<EchoManifestOptions, "name" | "program" | "replicas" | "cpuRequest" | "certificate">> = {},
): Promise<void> {
  const image = await installedImage();
  await sandbox.apply(...(await echoManifests({ name, program, image, replicas, cpuRequest, certificate })));
  await waitForRollout({ namespace: sandbox.namespace, name });
}

/** The image of the installation. */
export async function installedImage(): Promise<string> {
  const { namespace, name } = deploymentOf("controller");
  const { spec } = await ask<Deployment>(`/apis/apps/v1/namespaces/${namespace}/deployments/${name}`);
  const [container] = spec.template.spec.containers;
  if (container === undefined) throw new Error(`${name} has no container`);
  return container.image;
}
