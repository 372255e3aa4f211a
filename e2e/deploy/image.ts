/**
 * Builds the image of the test cluster and loads it into the cluster. With kind, Docker builds it from the
 * Dockerfile; for the local provider the same files are added to the cluster's own Node.js image without a container
 * engine.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { contentTag, imageConfig, programFolder, stageImage } from "../../scripts/image/contents.ts";
import { provider, providerName, root, showProvider } from "../support/provider.ts";
import { mustRun } from "../support/run-program.ts";

export type Image = { readonly repository: string; readonly tag: string };

const repository = "cluster.local/svc-gateway";
const work = join(root, ".cache/image");
const tarOf = (tag: string): string => join(work, `${tag}.tar`);

export const imageName = (image: Image): string => `${image.repository}:${image.tag}`;

/** Builds the image from dist/ of this or of another checkout. */
export async function buildImage(checkout = root): Promise<Image> {
  const program = join(checkout, "dist");
  const image = { repository, tag: contentTag(program) };
  if ((await providerName()) === "kind") {
    await mustRun("docker", ["build", "--tag", imageName(image), checkout], {
      isShown: true,
      timeoutMs: 20 * 60_000,
    });
  } else if (!existsSync(tarOf(image.tag))) {
    await assemble(image, program);
  }
  return image;
}

async function assemble(image: Image, program: string): Promise<void> {
  // The base is the Node.js image of the cluster, which is built with the cluster.
  await showProvider("build");
  const files = join(work, "files");
  mkdirSync(work, { recursive: true });
  stageImage(files, program);
  const { user, workingFolder, entrypoint, environment } = imageConfig;
  await mustRun(process.execPath, [
    join(root, "scripts/image/mkimage.ts"),
    ...["--from", await provider("node-image")],
    ...["--tree", `${join(files, programFolder)}=${programFolder}`],
    ...["--out", join(work, "layout"), "--tar", tarOf(image.tag), "--tag", imageName(image)],
    ...["--entrypoint", JSON.stringify(entrypoint), "--workdir", workingFolder, "--user", user],
    ...Object.entries(environment).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
  ]);
}

/** Loads the image into the node of the cluster. */
export async function loadImage(image: Image): Promise<void> {
  const isKind = (await providerName()) === "kind";
  await provider("load", isKind ? imageName(image) : tarOf(image.tag));
}
