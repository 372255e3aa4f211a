/** One file of a bundle. */
export type Entry = {
  /** Its path in the bundle. */
  readonly file: string;
  readonly text: string;
};

/** Something that is not in the bundle. */
export type Gap = { readonly what: string; readonly why: string };
