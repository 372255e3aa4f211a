import type { ObjectRef } from "../../api/object.ts";

/** A place in a text: 1-based line and column; columns count UTF-16 code units, as editors do. */
export type Position = { readonly line: number; readonly column: number };

/**
 * A place in a manifest file. `file` is the path by which the user reaches it: the folder as given, then the file in
 * it.
 */
export type Place = Position & { readonly file: string };

/** A problem of a document, at a position in that document. */
export type Finding = Position & {
  readonly message: string;
  /** The path of the field with which the message begins; absent if the problem is not about one field. */
  readonly field?: string;
  /** Set for an ignored field whose name resembles that of a known one. */
  readonly isMisspelt?: true;
};

/**
 * The kinds of problems of a manifest folder: a file or folder that cannot be read or exceeds a limit; a document that
 * is not YAML; an object that its schema rejects; an object that is defined twice; a field that is not used.
 */
export type ManifestProblemReason =
  "Unreadable" | "InvalidYaml" | "InvalidObject" | "DuplicateObject" | "IgnoredField";

/** A problem of a manifest folder. Without a line, it applies to the whole file or folder. */
export type ManifestProblem = {
  readonly reason: ManifestProblemReason;
  /**
   * `error`: a part of the file is not used as written. `warning`: the file is used, except for what the message names.
   */
  readonly severity: "error" | "warning";
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** The beginning of the manifest with the problem. */
  readonly manifest?: Position;
  /** The object of that manifest, if the manifest identifies it. */
  readonly object?: ObjectRef;
  /** The path of the field with which the message begins; absent if the problem is not about one field. */
  readonly field?: string;
  /** The message, one sentence. */
  readonly message: string;
};

/** `file:line:column: message`, the form that editors and terminals turn into a link. */
export const formatManifestProblem = ({ file, line, column, message }: ManifestProblem): string =>
  line === undefined ? `${file}: ${message}` : `${file}:${line}:${column ?? 1}: ${message}`;

export const formatPlace = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;
