/** The limits of a manifest folder, listed in docs/standalone.md. */
export type FolderLimits = {
  /** The number of manifest files read, in path order. */
  readonly maxFiles: number;
  /** Directory entries inspected, including hidden ones and files that are not manifests. */
  readonly maxEntries: number;
  /** Levels of folders below the manifest folder. */
  readonly maxFolderDepth: number;
  readonly maxFileBytes: number;
  /** The total size of all files, counted in path order. */
  readonly maxTotalBytes: number;
};

export const folderLimits: FolderLimits = {
  maxFiles: 20_000,
  maxEntries: 100_000,
  maxFolderDepth: 16,
  maxFileBytes: 16 * 1024 * 1024,
  maxTotalBytes: 256 * 1024 * 1024,
};

/** Levels of maps and lists in one document; the limit of the API server is about the same. */
export const maxValueDepth = 128;

/** Values in one document, after the expansion of its aliases and merge keys. */
export const maxDocumentValues = 2_000_000;

export const formatMebibytes = (bytes: number): string =>
  `${Math.round((bytes / 1_048_576) * 100) / 100} MiB`;
