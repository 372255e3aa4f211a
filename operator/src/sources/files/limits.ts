/** The bounds of what a manifest folder may hold; docs/standalone.md lists them. */
export type FolderLimits = {
  /** Manifest files read, in path order. */
  readonly maxFiles: number;
  /** Directory entries looked at, hidden ones and other files included. */
  readonly maxEntries: number;
  /** Levels of folders below the manifest folder. */
  readonly maxFolderDepth: number;
  readonly maxFileBytes: number;
  /** All files together, in path order. */
  readonly maxTotalBytes: number;
};

export const folderLimits: FolderLimits = {
  maxFiles: 20_000,
  maxEntries: 100_000,
  maxFolderDepth: 16,
  maxFileBytes: 16 * 1024 * 1024,
  maxTotalBytes: 256 * 1024 * 1024,
};

/** Levels of maps and lists in one document; the API server stops at about the same. */
export const maxValueDepth = 128;

/** Values of one document, counting what its aliases and merge keys expand to. */
export const maxDocumentValues = 2_000_000;

export const formatMebibytes = (bytes: number): string =>
  `${Math.round((bytes / 1_048_576) * 100) / 100} MiB`;
