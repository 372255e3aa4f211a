import { readdir, readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";

/** The most processes that are examined; a machine with more of them is not searched to the end. */
const maxProcesses = 2_000;

/** State of a socket that listens, in the tables of the kernel. */
const listening = "0A";

export type PortHolder = { readonly pid: number; readonly name: string };

/**
 * The process that has a port, where the system shows it: on Linux, among processes that this user may inspect (all of them
 * as root). Undefined where it is unknown; never fails.
 */
export async function findPortHolder(
  port: number,
  transport: "tcp" | "udp" = "tcp",
): Promise<PortHolder | undefined> {
  const tables = await Promise.all([`/proc/net/${transport}`, `/proc/net/${transport}6`].map(readTable));
  const sockets = new Set(tables.flatMap((table) => socketsOn(table, port, transport)));
  if (sockets.size === 0) return undefined;
  const processes = (await readdir("/proc").catch(() => [])).filter((entry) => /^\d+$/.test(entry));
  for (const pid of processes.slice(0, maxProcesses)) {
    if (await hasSocket(pid, sockets)) return { pid: Number(pid), name: await nameOf(pid) };
  }
  return undefined;
}

const readTable = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

/** The links of the sockets that hold the port: `socket:[inode]`. */
function socketsOn(table: string, port: number, transport: "tcp" | "udp"): readonly string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , , , inode = "0"] = line.trim().split(/\s+/);
    const holds = local.endsWith(suffix) && inode !== "0" && (transport === "udp" || state === listening);
    return holds ? [`socket:[${inode}]`] : [];
  });
}

async function hasSocket(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  for (const descriptor of await readdir(folder).catch(() => [])) {
    if (sockets.has(await readlink(`${folder}/${descriptor}`).catch(() => ""))) return true;
  }
  return false;
}

/**
 * The name of a process's program. Another user may have chosen it: it is cut to one line of printable characters. The
 * name of the first thread (`comm`) is only used where the program is hidden.
 */
const nameOf = async (pid: string): Promise<string> => {
  const program = await readlink(`/proc/${pid}/exe`).catch(() => "");
  const name = basename(program) || (await readFile(`/proc/${pid}/comm`, "utf8").catch(() => ""));
  return (
    name
      .trim()
      .slice(0, 64)
      .replace(/[^\x20-\x7e]/g, "?") || "a process"
  );
};
