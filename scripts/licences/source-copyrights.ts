/**
 * Finds copyright holders in the comments of sources. The bundle has no comments, but licences require that the names
 * are kept.
 */

/** A line of a comment such as ` * Copyright (c) 2014, GlobalSign` or `// Copyright 2021-2026 Buf Technologies, Inc.` */
const copyrightLine =
  /^[ \t]*(?:\/\/|\/\*+!?|\*|#)[ \t]*((?:copyright[ \t]+(?:\(c\)|©|\d{4}|the[ \t])|\(c\)[ \t]+(?:copyright|\d{4})|©)[^\r\n]*)/gim;

/** The distinct copyright lines of all sources, sorted. */
export function copyrightLines(sources: readonly string[]): readonly string[] {
  const lines = sources.flatMap((source) =>
    [...source.matchAll(copyrightLine)].map(([, line = ""]) =>
      line
        .replace(/\*\/.*$/, "")
        .replaceAll(/\s+/g, " ")
        .trim(),
    ),
  );
  return [...new Set(lines)].sort();
}
