import type { ObjectRef } from "../../api/object.ts";

/** A place in a text: 1-based line and column; columns count UTF-16 code units, as editors do. */
export type Position = { readonly line: number; readonly column: number };

/** A place in a manifest file. `file` is the path as the user reaches it: the folder as given, then the file in it. */
export type Place = Position & { readonly file: string };

/** What is wrong with a document, at a place in that document. */
export type Finding = Position & {
  readonly message: string;
  /** Path of the field, which the message begins with, where it is about one. */
  readonly field?: string;
  /** Of a field that is left out: another one was meant. */
  readonly isMisspelt?: true;
};

/**
 * The kinds of problems of a manifest folder: a file or folder that cannot be read or exceeds a limit; a document that
 * is not YAML; an object that its schema rejects; an object that is defined twice; a field that is not used.
 */
export type ManifestProblemReason =
  "Unreadable" | "InvalidYaml" | "InvalidObject" | "DuplicateObject" | "IgnoredField";

/** What is wrong in a manifest folder. Without a line, the whole file or folder is meant. */
export type ManifestProblem = {
  readonly reason: ManifestProblemReason;
  /** `error`: something of the file is not used as written. `warning`: it is used, without what is named here. */
  readonly severity: "error" | "warning";
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** Where the manifest begins that the problem is in. */
  readonly manifest?: Position;
  /** The object of that manifest, as far as it says which one it is. */
  readonly object?: ObjectRef;
  /** Path of the field, which the message begins with, where it is about one. */
  readonly field?: string;
  /** One sentence. */
  readonly message: string;
};

/** `file:line:column: message`, the form that editors and terminals turn into a link. */
export const formatManifestProblem = ({ file, line, column, message }: ManifestProblem): string =>
  line === undefined ? `${file}: ${message}` : `${file}:${line}:${column ?? 1}: ${message}`;

export const formatPlace = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;
