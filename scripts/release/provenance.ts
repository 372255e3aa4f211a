/**
 * States the sources and the method of the build: an in-toto statement with SLSA provenance
 * (https://slsa.dev/spec/v1.0/provenance).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BasePackages } from "./base/debian.ts";
import { sha256Of } from "./checksums.ts";
import { root, type ReleaseSource } from "./source.ts";

/** The build is that of this project's Makefile; `builder` identifies the system that ran it. */
const buildType = "urn:svc-gateway:release:v1";

export type ProvenanceInput = {
  readonly source: ReleaseSource;
  /** Name and SHA-256 of each file. */
  readonly files: ReadonlyMap<string, string>;
  readonly base: BasePackages;
  /** The URI of the system that ran the build, such as a workflow; undefined for an unattested machine. */
  readonly builder: string | undefined;
};

/** The statement as one line of JSON. It contains no build time, so that equal builds have equal statements. */
export function provenanceOf({ source, files, base, builder }: ProvenanceInput): string {
  const { version, commit } = source;
  const lock = sha256Of(readFileSync(join(root, "package-lock.json")));
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: [...files].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType,
        externalParameters: { command: "make release", VERSION: version, isTrial: !source.isClean },
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: commit } },
          { name: "package-lock.json", digest: { sha256: lock } },
          ...base.packages.flatMap(({ name, version: release, sha256 }) =>
            Object.entries(sha256).map(([architecture, digest]) => ({
              name: `debian/${name}@${release}/${architecture}`,
              digest: { sha256: digest },
            })),
          ),
        ],
      },
      runDetails: { builder: { id: builder ?? "urn:svc-gateway:builder:unattested" } },
    },
  };
  return `${JSON.stringify(statement)}\n`;
}
