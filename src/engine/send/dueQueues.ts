export interface Due {
  wakeUs: number;
  heapAt: number;
}

/** Binary heap by `wakeUs`. */
export class DueHeap<One extends Due> {
  private readonly heap: One[] = [];

  get first(): One | undefined {
    return this.heap[0];
  }

  get nextUs(): number {
    return this.heap[0]?.wakeUs ?? Infinity;
  }

  get all(): readonly One[] {
    return this.heap;
  }

  push(one: One): void {
    one.heapAt = this.heap.length;
    this.heap.push(one);
    this.rise(one);
  }

  remove(one: One): void {
    const at = one.heapAt;
    const last = this.heap.pop()!;
    one.heapAt = -1;
    if (last === one) return;
    this.heap[at] = last;
    last.heapAt = at;
    this.rise(last);
    this.sink(last);
  }

  private rise(one: One): void {
    const { heap } = this;
    let at = one.heapAt;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = heap[above]!;
      if (other.wakeUs <= one.wakeUs) break;
      heap[at] = other;
      other.heapAt = at;
      at = above;
    }
    heap[at] = one;
    one.heapAt = at;
  }

  private sink(one: One): void {
    const { heap } = this;
    let at = one.heapAt;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && heap[below + 1]!.wakeUs < heap[below]!.wakeUs) below += 1;
      const other = heap[below]!;
      if (other.wakeUs >= one.wakeUs) break;
      heap[at] = other;
      other.heapAt = at;
      at = below;
    }
    heap[at] = one;
    one.heapAt = at;
  }
}

export interface Queued<One> {
  nextUs: number;
  previous: One | undefined;
  next: One | undefined;
}

/** Linked list; each push must be due after all others. */
export class DueQueue<One extends Queued<One>> {
  first: One | undefined;
  private last: One | undefined;

  get nextUs(): number {
    return this.first?.nextUs ?? Infinity;
  }

  push(one: One): void {
    one.previous = this.last;
    one.next = undefined;
    if (this.last === undefined) this.first = one;
    else this.last.next = one;
    this.last = one;
  }

  remove(one: One): void {
    const { previous, next } = one;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.last = previous;
    else next.previous = previous;
    one.previous = one.next = undefined;
  }
}
