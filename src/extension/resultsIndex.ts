import * as vscode from 'vscode';
import type { ResultEntry } from './resultEntry';
import type { ResultPlaces } from './resultPlaces';
import { scanResults, type FoundResults, type KnownEntry } from './scanResults';

const quietMs = 300;
/** A run of another window is looked at again after this time. */
const runningAgainMs = 6000;

/** All results on disk, read when first asked for and followed from then on. */
export class ResultsIndex implements vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChange = this.emitter.event;
  private readonly known = new Map<string, KnownEntry>();
  private watchers: vscode.Disposable[] | undefined;
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | undefined;
  private found: FoundResults = { entries: [], unread: 0 };

  constructor(
    private readonly places: ResultPlaces,
    private readonly now: () => Date,
  ) {}

  /** What is known now; the event tells when there is more. */
  get results(): FoundResults {
    if (!this.watchers) this.follow();
    return this.found;
  }

  async load(): Promise<readonly ResultEntry[]> {
    if (!this.watchers) this.follow();
    await this.reading;
    return this.found.entries;
  }

  /** Reads again, soon: a burst of changes is read once. */
  refresh(afterMs = quietMs): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.read(), afterMs);
  }

  private follow(): void {
    this.watchers = this.places.all().flatMap((directory) => {
      const pattern = new vscode.RelativePattern(vscode.Uri.file(directory), '**');
      const watcher = vscode.workspace.createFileSystemWatcher(pattern);
      return [
        watcher,
        watcher.onDidCreate(() => this.refresh()),
        watcher.onDidDelete(() => this.refresh()),
        watcher.onDidChange((uri) => {
          // Samples are written each second; they change nothing in a list.
          if (uri.path.endsWith('/result.json')) this.refresh();
        }),
      ];
    });
    this.watchers.push(
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        this.unfollow();
        this.follow();
      }),
    );
    this.reading = this.read();
  }

  private async read(): Promise<void> {
    this.found = await scanResults(this.places.all(), this.known, this.now());
    this.emitter.fire();
    if (this.found.entries.some(({ status }) => status === 'running')) {
      this.refresh(runningAgainMs);
    }
  }

  private unfollow(): void {
    for (const watcher of this.watchers ?? []) watcher.dispose();
    this.watchers = undefined;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.unfollow();
    this.emitter.dispose();
  }
}
