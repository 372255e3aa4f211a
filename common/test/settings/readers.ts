import type { Role } from "../../src/settings/flag.ts";
import {
  readControllerSettings,
  readProxySettings,
  readStandaloneSettings,
  type ControllerSettings,
  type ProxySettings,
  type StandaloneSettings,
} from "../../src/settings/settings.ts";

export type Env = Readonly<Record<string, string>>;

export const standalone = (argv: readonly string[] = [], env: Env = {}): StandaloneSettings => {
  const read = readStandaloneSettings({ argv: ["--manifests", "dir", ...argv], env });
  if (!read.ok) throw new Error(read.error.message);
  return read.value.settings;
};
export const controller = (argv: readonly string[] = [], env: Env = {}): ControllerSettings => {
  const read = readControllerSettings({ argv, env });
  if (!read.ok) throw new Error(read.error.message);
  return read.value.settings;
};
export const proxy = (argv: readonly string[] = [], env: Env = {}): ProxySettings => {
  const read = readProxySettings({ argv: ["--discovery-endpoint", "ctl", ...argv], env });
  if (!read.ok) throw new Error(read.error.message);
  return read.value.settings;
};

const readers = {
  controller: readControllerSettings,
  proxy: readProxySettings,
  standalone: readStandaloneSettings,
};
const minimal: Readonly<Record<Role, readonly string[]>> = {
  controller: [],
  proxy: ["--shared", "--discovery-endpoint", "ctl"],
  standalone: ["--manifests", "dir"],
};
export const errorOf = (role: Role, argv: readonly string[], env: Env = {}): string => {
  const read = readers[role]({ argv: [...minimal[role], ...argv], env });
  return read.ok ? "no error" : read.error.message;
};
