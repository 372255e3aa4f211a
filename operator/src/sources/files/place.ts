import type { ObjectRef } from "../../api/object.ts";

/** A place in a text: 1-based line and column; columns count UTF-16 code units, as editors do. */
export type Position = { readonly line: number; readonly column: number };

/** A place in a manifest file. `file` is the path as the user reaches it: the folder as given, then the file in it. */
export type Place = Position & { readonly file: string };

/** What is wrong with a document, at a place in that document. */
export type Finding = Position & { readonly message: string };

/** What is wrong in a manifest folder. Without a line, the whole file or folder is meant. */
export type ManifestProblem = {
  /** `error`: something of the file is not used as written. `warning`: it is used, without what is named here. */
  readonly severity: "error" | "warning";
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly object?: ObjectRef;
  /** One sentence. */
  readonly message: string;
};

/** `file:line:column: message`, the form that editors and terminals turn into a link. */
export const formatManifestProblem = ({ file, line, column, message }: ManifestProblem): string =>
  line === undefined ? `${file}: ${message}` : `${file}:${line}:${column ?? 1}: ${message}`;

export const formatPlace = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;
