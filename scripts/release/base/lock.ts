/** `make release-base`: pins the current versions of the base packages, with their digests, in `packages.json`. */
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { sha256Of } from "../checksums.ts";
import {
  architectures,
  createApt,
  readBasePackages,
  writeBasePackages,
  type Apt,
  type Architecture,
} from "./debian.ts";

/**
 * The packages to pin, with their licences in SPDX syntax: the libraries that Node.js is linked to, root
 * certificates, the release of the system, and the common licence texts.
 */
const wanted: Readonly<Record<string, string>> = {
  "base-files": "GPL-2.0-or-later",
  "ca-certificates": "MPL-2.0 AND GPL-2.0-or-later",
  "gcc-12-base": "GPL-3.0-or-later WITH GCC-exception-3.1",
  libc6: "LGPL-2.1-or-later",
  "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
  "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
};

try {
  const apts = new Map<Architecture, Apt>();
  for (const architecture of architectures) {
    const apt = createApt(architecture);
    if (!apt.ok) throw new Error(apt.error.message);
    apts.set(architecture, apt.value);
  }
  const packages = Object.entries(wanted).map(([name, licence]) => {
    const version = apts.get("amd64")?.candidate(name);
    if (version === undefined) throw new Error(`${name}: is not offered by the sources of this machine`);
    const digest = (architecture: Architecture): string => {
      const bytes = apts.get(architecture)?.download(`${name}=${version}`);
      if (bytes?.ok !== true)
        throw new Error(`${name}=${version} for ${architecture}: ${bytes?.error.message}`);
      return sha256Of(bytes.value);
    };
    return { name, version, licence, sha256: { amd64: digest("amd64"), arm64: digest("arm64") } };
  });
  const { release } = readBasePackages();
  writeBasePackages({ release, packages });
  process.stdout.write(packages.map(({ name, version }) => `${name} ${version}\n`).join(""));
} catch (error) {
  process.stderr.write(`release-base: ${textOf(error)}\n`);
  process.exitCode = 1;
}
