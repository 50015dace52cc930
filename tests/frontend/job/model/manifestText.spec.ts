import {
  compareLines,
  withoutServerParts
} from '../../../../src/job/model/manifestText';

const TEXT = `apiVersion: v1
metadata:
  name: bert
  managedFields:
  - manager: lab
    fieldsV1: {}
  uid: u1
spec:
  args:
  - status: kept
status:
  conditions:
  - type: Running
`;

describe('a manifest’s text', () => {
  it('is shown without what only the cluster writes', () => {
    expect(withoutServerParts(TEXT)).toBe(`apiVersion: v1
metadata:
  name: bert
  uid: u1
spec:
  args:
  - status: kept
`);
  });

  it('is compared line by line', () => {
    expect(compareLines('a\nb\nc\n', 'a\nb\nc\n')).toEqual({
      before: [],
      after: []
    });
    expect(compareLines('a\nb\nc\nd\n', 'a\nx\nc\ny\nd\n')).toEqual({
      before: [2],
      after: [2, 4]
    });
    expect(compareLines('a\nb\n', 'a\nnew\nb\n')).toEqual({
      before: [],
      after: [2]
    });
  });

  it('is not compared where that would take too long', () => {
    const long = (word: string): string => `${word}\n`.repeat(4000);
    expect(compareLines(long('a'), long('b'))).toBeNull();
  });
});
