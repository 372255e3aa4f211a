import { readdir, readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";

/** The maximum number of processes that are examined; on a machine with more processes, the search is incomplete. */
const maxProcesses = 2_000;

/** The state of a listening socket in the tables of the kernel. */
const listening = "0A";

type PortHolder = { readonly pid: number; readonly name: string };

/** Returns a text such as `Port 8080 is taken by nginx (process 17)`, as precise as the system permits. */
export async function describePortHolder(
  port: number,
  transport: "tcp" | "udp" = "tcp",
  procfs?: string,
): Promise<string> {
  const holder = await findPortHolder(port, transport, procfs);
  if (holder === undefined) return `Port ${port} is taken by another process`;
  if (holder.pid === process.pid) return `Port ${port} is taken by this process itself`;
  return `Port ${port} is taken by ${holder.name} (process ${holder.pid})`;
}

/**
 * Finds the process that holds a port. On Linux, the processes that this user may inspect are searched (all of them as
 * root). Returns undefined if the process is unknown; never fails.
 */
export async function findPortHolder(
  port: number,
  transport: "tcp" | "udp" = "tcp",
  procfs = "/proc",
): Promise<PortHolder | undefined> {
  const names = [`${procfs}/net/${transport}`, `${procfs}/net/${transport}6`];
  const tables = await Promise.all(names.map(readTable));
  const sockets = new Set(tables.flatMap((table) => socketsOn(table, port, transport)));
  if (sockets.size === 0) return undefined;
  const processes = (await readdir(procfs).catch(() => [])).filter((entry) => /^\d+$/.test(entry));
  for (const pid of processes.slice(0, maxProcesses)) {
    if (await hasSocket(`${procfs}/${pid}`, sockets)) {
      return { pid: Number(pid), name: await nameOf(`${procfs}/${pid}`) };
    }
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

async function hasSocket(process_: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `${process_}/fd`;
  for (const descriptor of await readdir(folder).catch(() => [])) {
    if (sockets.has(await readlink(`${folder}/${descriptor}`).catch(() => ""))) return true;
  }
  return false;
}

/**
 * The name of a process's program. It can have been chosen by another user, so it is reduced to one line of printable
 * characters. The name of the first thread (`comm`) is used only if the program is hidden.
 */
const nameOf = async (process_: string): Promise<string> => {
  const program = await readlink(`${process_}/exe`).catch(() => "");
  const name = basename(program) || (await readFile(`${process_}/comm`, "utf8").catch(() => ""));
  return (
    name
      .trim()
      .slice(0, 64)
      .replace(/[^\x20-\x7e]/g, "?") || "a process"
  );
};
