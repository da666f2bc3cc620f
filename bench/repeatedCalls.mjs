/**
 * A client of the bench whose "connections" are calls, each made again as soon as it is answered.
 *
 * @param call makes one, given its time; a call that fails ends the bench
 */
export function repeatedCalls({ connections, nowUs, record }, call) {
  let roundTrips = 0;
  const goOn = async () => {
    for (;;) {
      const sentUs = nowUs();
      await call(sentUs);
      roundTrips++;
      record(nowUs() - sentUs);
    }
  };
  return {
    start() {
      for (let count = 0; count < connections; count++) void goOn();
    },
    roundTrips: () => roundTrips,
  };
}
