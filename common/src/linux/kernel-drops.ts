import { readFile } from "node:fs/promises";

/** Reads a file; undefined if the system has no such file. */
export type ReadTable = (path: string) => Promise<string | undefined>;

/** A socket in a table of the kernel that is not connected to a peer. */
type UdpSocket = { readonly inode: string; readonly port: number; readonly drops: number };

/** `/proc/net/udp` and `/proc/net/udp6` of Linux: a line per socket of the network namespace. */
const tables = ["/proc/net/udp", "/proc/net/udp6"];

/**
 * Counts the datagrams that the kernel has dropped because the receive buffers of listeners were full. The kernel
 * counts per open socket, so datagrams that were dropped between the last read and the close of a socket are unknown.
 */
export class KernelDrops {
  private readonly read: ReadTable;
  /** The number of drops at the previous read, by inode. */
  private seen = new Map<string, number>();

  constructor(read: ReadTable = readOptional) {
    this.read = read;
  }

  /** Returns the number of datagrams dropped since the previous call, by local port, for the given ports. */
  async since(ports: ReadonlySet<number>): Promise<ReadonlyMap<number, number>> {
    const dropped = new Map<number, number>();
    if (ports.size === 0) return dropped;
    const seen = new Map<string, number>();
    for (const path of tables) {
      for (const { inode, port, drops } of parseUdpTable((await this.read(path)) ?? "")) {
        if (!ports.has(port)) continue;
        seen.set(inode, drops);
        const more = drops - (this.seen.get(inode) ?? 0);
        if (more > 0) dropped.set(port, (dropped.get(port) ?? 0) + more);
      }
    }
    this.seen = seen;
    return dropped;
  }
}

/** Yields the sockets without a peer in such a table; lines of another form are skipped. */
function* parseUdpTable(text: string): Generator<UdpSocket> {
  for (const line of text.split("\n")) {
    const columns = line.trim().split(/\s+/);
    const [, local = "", remote = "", , , , , , , inode = ""] = columns;
    const drops = Number(columns[12]);
    const port = Number.parseInt(local.slice(local.indexOf(":") + 1), 16);
    if (!remote.endsWith(":0000") || !/^\d+$/.test(inode) || !Number.isSafeInteger(drops)) continue;
    if (Number.isInteger(port)) yield { inode, port, drops };
  }
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "latin1");
  } catch {
    return undefined;
  }
}
