"""A guard in Python: keeps e-mail addresses of customers out of tool calls. ../README.md explains how to run it, and its rules."""
import io, json, os, re, struct, sys, time
from confluent_kafka import Consumer, KafkaException, Producer
from fastavro import parse_schema, schemaless_reader, schemaless_writer

NAME, VERSION = "no-customer-data", "1"
PREFIX = os.environ.get("WEIR_TOPIC_PREFIX", "weir.")
KAFKA = {"bootstrap.servers": os.environ.get("WEIR_BOOTSTRAP_SERVER", "localhost:9092")}
LOCK = {entry["id"]: entry for entry in json.load(open(os.environ.get("WEIR_SCHEMAS", "schemas/lock.json"), encoding="utf-8"))}
SCHEMAS = {number: parse_schema(entry["schema"]) for number, entry in LOCK.items() if entry["type"] in ("round-cleared", "guard-verdict")}
ANSWER = max(number for number in SCHEMAS if LOCK[number]["type"] == "guard-verdict")

def judge(call):
    """`call`: see guarded_call. None lets the call pass; a code for people and a text for the model deny it."""
    if re.search(r"[^\s@]{1,64}@[^\s@]{1,255}\.", json.dumps(call["arguments"], ensure_ascii=False)):
        return "customer-data", "the arguments hold an e-mail address, which must not leave the company. Do it without one."

def guarded_call(call, mode, cleared):
    """The fields of a call that a guard in TypeScript gets, under the same names."""
    text = call["raw"] or "{}"
    declaration = next((one for one in cleared["declarations"] if one["name"] == call["name"]), None)
    known = {"ordinal": call["ordinal"], "name": call["name"], "source": call["source"], "declaration": declaration}
    return known | {"arguments": json.loads(text), "rawArguments": text, "enforced": "enforce" in mode}

def verdict(call, mode, cleared):
    try:
        found = judge(guarded_call(call, mode, cleared))
    except Exception as error:  # a call that cannot be judged must not run
        print(f"{NAME}: call {call['ordinal']}: {error!r}", file=sys.stderr)
        found = "guard-failed", "it could not be judged. Do without this call, or tell the user."
    code, text = found or ("", "")
    return {"ordinal": call["ordinal"], "verdict": "deny" if found else "allow", "code": code, "text": text}

def answer(value, cleared_at):
    """The guard-verdict for a record of rounds-cleared, or None if no call of it concerns this guard."""
    number = struct.unpack_from(">I", value, 1)[0]
    if value[0] != 0 or LOCK[number]["type"] != "round-cleared":
        return None
    began = time.monotonic()
    cleared = schemaless_reader(io.BytesIO(value[5:]), SCHEMAS[number])
    mine = next((guard for guard in cleared["policy"].get("guards", []) if guard["name"] == NAME), {"tools": []})
    modes = {}  # by ordinal of the calls to judge
    for call in cleared["calls"]:
        for tools in mine["tools"]:
            pattern = ".*".join(re.escape(piece) for piece in tools["pattern"].split("*"))
            if re.fullmatch(pattern, call["name"], re.DOTALL):
                modes.setdefault(call["ordinal"], set()).add(tools["mode"])
    for result in cleared["decided"]:
        modes.pop(result["ordinal"], None)
    if not modes:
        return None
    body = {key: cleared[key] for key in ("conversation", "turn", "round")}
    body |= {"guard": NAME, "version": VERSION, "verdicts": [verdict(call, modes[call["ordinal"]], cleared) for call in cleared["calls"] if call["ordinal"] in modes]}
    body |= {"enforces": [ordinal for ordinal in modes if "enforce" in modes[ordinal]], "deadlineMs": mine["deadlineMs"]}
    body |= {"clearedAt": cleared_at, "judgedMs": (time.monotonic() - began) * 1000}
    out = io.BytesIO()
    schemaless_writer(out, SCHEMAS[ANSWER], body)
    return struct.pack(">bI", 0, ANSWER) + out.getvalue()

def main():
    """Commits a round once its answer is in the log. After a kill the guard may answer again: the first answer counts."""
    group = {"group.id": f"{PREFIX}guard.{NAME}", "enable.auto.commit": False, "auto.offset.reset": "earliest", "session.timeout.ms": 10_000}
    consumer = Consumer(KAFKA | group)
    producer = Producer(KAFKA | {"enable.idempotence": True, "linger.ms": 0})
    consumer.subscribe([f"{PREFIX}rounds-cleared"])
    while True:
        record = consumer.poll(1.0)
        if record is None:
            continue
        if record.error():
            raise KafkaException(record.error())
        value = None
        try:
            value = answer(record.value(), record.timestamp()[1])
        except Exception as error:  # no answer: on-timeout decides the round at the deadline
            print(f"{NAME}: partition {record.partition()}, offset {record.offset()}: {error!r}", file=sys.stderr)
        if value is not None:  # with the key and the partition of its round
            delivered = []
            producer.produce(f"{PREFIX}guard-verdicts.{NAME}", value, record.key(), record.partition(), on_delivery=lambda error, _: delivered.append(error))
            if producer.flush(30) > 0 or delivered != [None]:
                sys.exit(f"{NAME}: an answer was not delivered: {delivered}")
        consumer.commit(record, asynchronous=True)

if __name__ == "__main__":
    main()
