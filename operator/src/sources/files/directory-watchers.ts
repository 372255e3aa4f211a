import { watch, type FSWatcher } from "node:fs";

/** Reports changes in a set of directories, as far as the file system reports them. */
export type DirectoryWatchers = {
  /**
   * Watches exactly these directories, given as a map of real path to a text that identifies the directory. Returns
   * true if a watch was added, because a change shortly before that may have been missed.
   */
  update(directories: ReadonlyMap<string, string>): boolean;
  /** False when a directory cannot be watched, for example because the system's limit of watches is reached. */
  readonly isComplete: boolean;
  close(): void;
};

/**
 * One watch per directory instead of the recursive mode of Node.js, which follows neither symbolic links nor a
 * directory that is deleted and created again. A deleted directory is recognised by its identity, not by an event.
 */
export function createDirectoryWatchers(onChange: () => void): DirectoryWatchers {
  const watchers = new Map<string, { readonly identity: string; readonly watcher: FSWatcher }>();
  const failed = new Set<string>();

  const stop = (path: string): void => {
    watchers.get(path)?.watcher.close();
    watchers.delete(path);
  };

  const start = (path: string, identity: string): boolean => {
    try {
      const watcher = watch(path, onChange);
      watcher.on("error", () => {
        stop(path);
        failed.add(path);
      });
      watchers.set(path, { identity, watcher });
      failed.delete(path);
      return true;
    } catch {
      failed.add(path);
      return false;
    }
  };

  return {
    update(directories) {
      for (const [path, { identity }] of watchers) if (directories.get(path) !== identity) stop(path);
      for (const path of failed) if (!directories.has(path)) failed.delete(path);
      let added = false;
      for (const [path, identity] of directories) {
        if (!watchers.has(path) && start(path, identity)) added = true;
      }
      return added;
    },
    get isComplete() {
      return failed.size === 0;
    },
    close() {
      for (const path of watchers.keys()) stop(path);
    },
  };
}
