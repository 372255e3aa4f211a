/**
 * The targets image, deploy and undeploy of the Makefile.
 *
 *   main.ts image | deploy | undeploy
 *
 * deploy starts the test cluster if it does not run. GATEWAY_API selects the channel of its definitions
 * (experimental, standard, none), and HELM_ARGS contains additional arguments of `helm upgrade`.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { textOf } from "../../common/src/values/errors.ts";
import { echoManifests } from "../support/echo-manifests.ts";
import { isClusterUp, providerName, root, showProvider } from "../support/provider.ts";
import { buildImage, imageName, loadImage, type Image } from "./image.ts";
import type { GatewayApiChannel } from "./gateway-api-definitions.ts";
import { deploy, namespace, publicAddress, undeploy } from "./release.ts";

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

const commands: Readonly<Record<string, () => Promise<void>>> = {
  async image() {
    printLine(imageName(await buildImage()));
  },

  async deploy() {
    const gatewayApi = channelOf(process.env["GATEWAY_API"] ?? "experimental");
    if (!(await isClusterUp())) await showProvider("up");
    const image = await buildImage();
    printLine(`loading ${imageName(image)}`);
    await loadImage(image);
    printLine(`installing the chart into ${namespace}`);
    await deploy({
      image,
      gatewayApi,
      helmArguments: (process.env["HELM_ARGS"] ?? "").split(/\s+/).filter(Boolean),
    });
    printLine(await firstRequest(image));
  },

  async undeploy() {
    await undeploy();
    printLine("svc-gateway is removed from the cluster");
  },
};

function channelOf(text: string): GatewayApiChannel {
  if (text === "experimental" || text === "standard" || text === "none") return text;
  throw new Error(`GATEWAY_API is "${text}", expected experimental, standard or none`);
}

/** Writes a backend with an Ingress to a file, and returns the commands for a first request. */
async function firstRequest(image: Image): Promise<string> {
  const manifests = await echoManifests({ name: "echo", image: imageName(image) });
  const file = join(root, ".cache/deploy/echo.json");
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: [...manifests, echoIngress] }));
  const cluster = await providerName();
  return `
svc-gateway is ready. A first request:

  eval "$(CLUSTER=${cluster} e2e/cluster/provider env)"
  kubectl apply -f ${relative(process.cwd(), file)}
  kubectl rollout status deployment/echo
  curl -H 'Host: echo.example.com' http://${await publicAddress()}/
`;
}

const echoIngress = {
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name: "echo" },
  spec: {
    ingressClassName: "svc",
    rules: [
      {
        host: "echo.example.com",
        http: {
          paths: [
            { path: "/", pathType: "Prefix", backend: { service: { name: "echo", port: { name: "http" } } } },
          ],
        },
      },
    ],
  },
};

const [name = ""] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
try {
  if (command === undefined) throw new Error(`main.ts ${Object.keys(commands).join(" | ")}`);
  await command();
} catch (error) {
  process.stderr.write(`${textOf(error)}\n`);
  process.exitCode = 1;
}
