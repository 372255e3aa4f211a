import { textOf } from "@svc-gateway/common/values/errors.ts";
const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** Whether the error means that the file or folder does not (or no longer) exist. */
export const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(codeOf(error));

/** The reason why a file or folder cannot be read, as a sentence about `what`. */
export function describeReadError(error: unknown, what: "the file" | "the folder"): string {
  switch (codeOf(error)) {
    case "ENOENT":
      return `${what} does not exist`;
    case "ENOTDIR":
      return what === "the folder"
        ? "the path is not a folder"
        : "the file does not exist: a part of its path is not a folder";
    case "EACCES":
    case "EPERM":
      return `${what} cannot be read: permission denied`;
    case "ELOOP":
      return `${what} is a symbolic link that leads back to itself`;
    default:
      return `${what} cannot be read: ${textOf(error)}`;
  }
}
