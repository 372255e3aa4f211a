import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { formatMebibytes } from "./limits.ts";
import { signatureOf, type ListedFile } from "./listing.ts";
import { describeReadError, isMissing } from "./read-error.ts";

/**
 * The reason why a file has no text. With `changed`, the file differs from the listing, so the folder must be listed
 * again.
 */
export type ReadFailure =
  { readonly type: "changed" } | { readonly type: "unusable"; readonly message: string };

const changed: ReadFailure = { type: "changed" };
const unusable = (message: string): Result<never, ReadFailure> => fail({ type: "unusable", message });

/** The text of a listed file; fails unless the content is exactly that which was listed. */
export async function readText(file: ListedFile, maxBytes: number): Promise<Result<string, ReadFailure>> {
  if (file.bytes > maxBytes) {
    return unusable(`the file is not read: it is larger than ${formatMebibytes(maxBytes)}`);
  }
  try {
    // Without O_NONBLOCK, opening a path that has become a pipe in the meantime would wait for a writer.
    await using handle = await open(file.realPath, constants.O_RDONLY | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(file.bytes);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    const signature = `${file.realPath} ${signatureOf(await handle.stat({ bigint: true }))}`;
    if (signature !== file.signature || length < bytes.length) return fail(changed);
    return decode(bytes);
  } catch (error) {
    return isMissing(error) ? fail(changed) : unusable(describeReadError(error, "the file"));
  }
}

function decode(bytes: Buffer): Result<string, ReadFailure> {
  try {
    return ok(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return unusable("the file is not UTF-8 text");
  }
}
