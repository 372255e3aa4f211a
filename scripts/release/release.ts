/** Builds the files of a release into a folder. The same commit on the same machine results in the same bytes. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";
import { licencesFile, writeProgram } from "../bundle/program-folder.ts";
import { takenOver } from "../licences/taken-over.ts";
import { architectures, readBasePackages } from "./base/debian.ts";
import { packChart, writeChartIndex } from "./chart.ts";
import { digestsOf, writeChecksums } from "./checksums.ts";
import { packImage, setModes } from "./image.ts";
import { nodePackage } from "./node-binary.ts";
import { packNpm } from "./npm-package.ts";
import { provenanceOf } from "./provenance.ts";
import { sbomOf } from "./sbom.ts";
import type { ReleaseSource } from "./source.ts";

/** Replaces `folder` with the release. `builder` is the URI of the system that runs the build, for the provenance. */
export async function buildRelease(
  folder: string,
  source: ReleaseSource,
  builder: string | undefined,
): Promise<Result<undefined>> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const scratch = mkdtempSync(join(dirname(folder), ".release-"));
  try {
    return await buildInto(folder, scratch, source, builder);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function buildInto(
  folder: string,
  scratch: string,
  source: ReleaseSource,
  builder: string | undefined,
): Promise<Result<undefined>> {
  const empty = (name: string): string => {
    mkdirSync(join(scratch, name));
    return join(scratch, name);
  };
  const named = (suffix: string): string => join(folder, `svc-gateway-${source.version}${suffix}`);

  const app = empty("app");
  const npm = await writeProgram(app, source.version);
  setModes(app);
  copyFileSync(join(app, licencesFile), join(folder, licencesFile));

  packNpm(named("-npm.tgz"), app, empty("npm"), source);
  // The name that Helm gives to packages of charts.
  packChart(named(".tgz"), empty("chart"), source);
  writeChartIndex(join(folder, "index.yaml"), named(".tgz"), source);
  const image = packImage(named("-image.tar"), app, empty("image"), source);
  if (!image.ok) return image;

  const base = readBasePackages();
  for (const architecture of architectures) {
    const node = nodePackage(architecture);
    if (!node.ok) return node;
    const contents = {
      subject: "container",
      npm,
      takenOver,
      node: node.value,
      base: { architecture, packages: base },
    } as const;
    writeFileSync(named(`-image-${architecture}.cdx.json`), await sbomOf(contents, source));
  }
  writeFileSync(named("-npm.cdx.json"), await sbomOf({ subject: "application", npm, takenOver }, source));
  writeFileSync(named("-chart.cdx.json"), await sbomOf({ subject: "file", npm: [], takenOver: [] }, source));

  const provenance = provenanceOf({ source, files: digestsOf(folder), base, builder });
  writeFileSync(named(".intoto.jsonl"), provenance);
  writeChecksums(folder);
  return ok(undefined);
}
