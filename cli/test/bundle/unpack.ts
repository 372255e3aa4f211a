/** The files of an archive, by their names. */
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { extract } from "tar-stream";

export async function unpack(file: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const archive = createReadStream(file).pipe(createGunzip()).pipe(extract());
  for await (const entry of archive) {
    const chunks: Buffer[] = [];
    for await (const chunk of Readable.from(entry)) chunks.push(chunk as Buffer);
    files.set(entry.header.name, Buffer.concat(chunks).toString("utf8"));
  }
  return files;
}
